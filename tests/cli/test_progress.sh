#!/bin/sh
# What commands that take long tell: how far they are, on terminals of any width, and what they took.
# usage: test_progress.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"

# A terminal, or who asks for it, sees a bar that goes away again.
bar() {
    ranks=$1
    prepare bar-$ranks
    run create a.npy --shape 300,300
    run transpose a.npy b.npy --memory 32K 2>none
    run transpose a.npy c.npy --memory 32K --progress --quiet 2>>none
    [ ! -s none ] || fail "a bar that nobody asked for: $(cat none)"
    run transpose a.npy d.npy --memory 32K --progress 2>bar
    on_terminal 80 "$weir" transpose a.npy e.npy --memory 32K >terminal
    run transpose a.npy f.npy --memory 32K --progress --hints fault=delay:2500 2>slow
    for text in bar terminal; do
        grep -q 'transpose \[.*\] .* %  .* MB/s  .*:.. left' $text || fail "$text: $(cat $text)"
        ! grep -q "$(printf '\033')" $text || fail "$text: escape codes"
        [ "$(tail -c 1 $text | od -An -c | tr -d ' ')" = '\r' ] || fail "$text: does not end"
    done
    [ "$(tr '\r' '\n' <slow | grep -c left)" -gt 2 ] || fail "slow: $(cat slow)"
    cases_of_no_end
    cases_of_terminals
    cases_of_pictures
    cases_of_text
}

# Launchers have ranks' errors in a pipe, and their output in a terminal of no extent, wherever theirs lead.
launched() {
    ranks=3
    prepare launched
    export TERM=xterm-256color COLORTERM=truecolor
    "$weir" create a.npy --shape 300,300
    on_terminal 80 $start "$weir" transpose a.npy t.npy --memory 32K >terminal
    grep -q 'transpose \[.*\] .* %  .* MB/s  .*:.. left' terminal || fail "no bar: $(cat terminal)"
    on_terminal 80 sh -c "$start '$weir' transpose a.npy u.npy --memory 32K 2>file | cat; cat file" >none
    [ ! -s none ] || fail "a bar in a file: $(cat none)"
    for words in get view; do
        "$weir" $words a.npy >alone
        run $words a.npy | cat >together
        cmp alone together || fail "$words: $(cat together)"
    done
    # what is started by a shell that was launched is not
    printf '%s %s\n' "'$weir' version 2>&1; echo y | '$weir' rm u.npy && echo gone;" \
        "'$weir' create u.npy --shape 2000,2000; '$weir' transpose u.npy v.npy --memory 64K 2>&1 >/dev/null | cat" >shell
    on_terminal 80 env SLURM_STEP_ID=0 SLURM_PROCID=3 sh shell >said
    grep -q 'no command is called version' said && grep -q gone said && ! grep -q left said ||
        fail "a launched shell: $(cat said)"
    on_terminal 80 $start "$weir" rm a.npy >told && fail "rm asks nobody: $(cat told)"
    grep -q 'a.npy: nobody can be asked through a launcher; --force removes it' told && [ -e a.npy ] ||
        fail "rm: $(cat told)"
    on_terminal 80 $start "$weir" rm -f a.npy >told
    [ ! -e a.npy ] || fail "rm -f: $(cat told)"
}

# on_terminal COLUMNS COMMAND...: what it shows there.
on_terminal() {
    /usr/bin/python3 -c 'import fcntl, os, pty, struct, sys, termios
columns = int(sys.argv[1])
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        data = os.read(fd, 1024)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$@"
}

# No picture is wider than the terminal, whose last column stays free: it would break the line.
cases_of_terminals() {
    for columns in 40 25; do
        on_terminal $columns "$weir" transpose a.npy n.npy --memory 32K --overwrite \
            --hints fault=delay:1500 >narrow
        tr '\r' '\n' <narrow | awk -v most=$columns 'length($0) >= most { exit 1 }' || fail "wide: $(cat narrow)"
        tr '\r' '\n' <narrow | grep -q ' % .* left' || [ $columns = 25 ] || fail "narrow: $(cat narrow)"
        tr '\r' '\n' <narrow | grep -q ' %' || fail "narrow: $(cat narrow)"
    done
}

# In a terminal the picture comes when the bar is gone.
cases_of_pictures() {
    run view a.npy -o a.png 2>none
    [ ! -s none ] || fail "a bar that nobody asked for: $(cat none)"
    run view a.npy -o a.png --memory 32K --progress 2>bar
    grep -q 'view \[.*\] .* %  .* MB/s' bar || fail "view: $(cat bar)"
    on_terminal 80 "$weir" view a.npy --size 40x12 --memory 32K >terminal
    tr '\r' '\n' <terminal | grep -n 'view \[.*\] .* %\|a.npy: f8\|^ *$' | grep -m 1 -B 1 a.npy >lines
    [ "$(grep -c '%' lines)" = 0 ] && [ "$(wc -l <lines)" = 2 ] && grep -q 'view \[.*%' terminal ||
        fail "a picture beside a bar: $(cat terminal)"
}

# Of text in files, too; none amid text in a terminal.
cases_of_text() {
    run get a.npy -o a.csv --memory 32K --progress 2>bar
    run put a.npy a.csv --memory 32K --progress 2>put
    for words in '-o -' --plain --all; do
        run get a.npy $words --memory 32K --progress 2>>bar >a.txt
    done
    [ "$(grep -o 'get  *\[#*\.*\] ' bar | wc -l)" -ge 4 ] && grep -q 'put \[.*\] .* %' put || fail "text: $(cat bar put)"
    on_terminal 80 "$weir" get a.npy --progress -v >terminal
    ! grep -q ' %' terminal && grep -q '^weir get: .* MB read' terminal || fail "text: $(cat terminal)"
}

# What --json tells of work done and of work that would be; -v ends with a line.
accounts() {
    ranks=$1
    prepare accounts-$ranks
    run create a.npy --shape 300,300 --iota
    run create m.npy --shape 300,200 --random 1 --json >told-create 2>err
    for way in '--dry-run' ''; do
        run transpose m.npy t-of$way.npy --json $way
        run matmul a.npy m.npy p-of$way.npy --json $way
        run convert m.npy v-of$way.npy --dtype f4 --json $way
        run median m.npy d-of$way.npy --json $way
        run laplace m.npy l-of$way.npy --iterations 3 --json $way
        run reduce m.npy --json $way
        run fill m.npy 2 --json $way
    done >told-all
    run get 'm.npy[::2]' -o g.npy --json -v >told-get 2>err
    grep -q '^weir get: .* MB read, .* MB written in .* s, .* MB/s$' err || fail "-v: $(cat err)"
    run get m.npy -o m.csv --json -v >told-csv 2>err
    grep -q '^weir get: 0.5 MB read, .* in .* s, .* MB/s$' err || fail "get -v: $(cat err)"
    refuses 2 '--json is for files' get m.npy --json
    run view m.npy -o m.png --json -v >told-view 2>err
    grep -q '^weir view: 0.5 MB read, 0.0 MB written in .* s, .* MB/s$' err || fail "view -v: $(cat err)"
    refuses 2 '--json is for files' view m.npy --json
    run transpose m.npy q.npy -v -q 2>err
    [ ! -s err ] || fail "-q: $(cat err)"
    claim "account('told-create', 'create', False, $ranks)['written'] == 300 * 200 * 8"
    claim "accounts('told-all', $ranks)"
    claim "account('told-get', 'get', False, $ranks)['read'] == 150 * 200 * 8"
    claim "account('told-csv', 'get', False, $ranks)['read'] == 300 * 200 * 8"
    claim "account('told-view', 'view', False, $ranks)['read'] == 300 * 200 * 8"
    ls | grep -c -- '--dry-run' >made || true
    [ "$(cat made)" = 0 ] || fail "a dry run makes something: $(ls)"
    check_claims
}

# A file that datasets are added to stays as it is, to the byte, and says what is wrong as without.
inside() {
    ranks=$1
    prepare inside-$ranks
    run create x.h5:/a --shape 300,200 --random 1
    cp -p x.h5 before.h5
    run transpose x.h5:/a x.h5:/t --dry-run >told
    run create x.h5:/n --shape 100,100 --random 1 --dry-run --json >>told
    refuses 1 'overwrite was not given' create x.h5:/a --shape 4 --dry-run
    "$weir" create ../x.nc:/a --shape 4 --overwrite
    cp x.h5 ../plain && echo text >../text.h5
    for name in ../x.nc:/t ../plain:/t ../text.h5:/t; do
        for way in '' --dry-run; do
            ! run create $name --shape 4 $way 2>>../err || fail "create $name $way"
        done
    done
    cmp x.h5 before.h5 && [ "$(ls)" = "$(printf 'before.h5\ntold\nx.h5')" ] || fail "a dry run changes: $(ls)"
}

# Nobody knows how many iterations there will be: they are counted. One moves 2 x 28800 bytes.
cases_of_no_end() {
    run create r.npy --shape 60,60 --random 1
    run laplace r.npy l.npy --tolerance 0.03 --progress --hints fault=delay:2000 >told 2>endless
    tr '\r' '\n' <endless | grep iterations >pictures
    awk -v most=$(sed 's/[^0-9]*\([0-9]*\).*/\1/' told) '
        !/^laplace [0-9]+ iterations  ([0-9]+ MB\/s  )?[0-9]+:[0-9][0-9] so far/ { wrong = 1 }
        $2 < before || $2 > most || (/MB/ && $4 > $2 * 0.0576 / 0.2 + 1) { wrong = 1 }
        { before = $2 }
        END { exit wrong || NR < 3 || !before }' pictures || fail "no end: $(cat told pictures)"
}

run_parts 'bar 1' 'accounts 1' 'accounts 3' 'inside 1' 'inside 3' launched
