"""How far a long call is: by tqdm where that is there, otherwise a line in a terminal."""
import sys
import time


class _Line:
    def __init__(self, what):
        self._what, self._next = what, 0.0
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, done, total):
        now = time.monotonic()
        if not self._shown or (now < self._next and done != total):
            return
        self._next = now + 0.1
        if total:
            bar = "#" * (30 * done // total)
            text = f"{self._what} [{bar:<30}] {100 * done // total:3d} %"
        else:
            text = f"{self._what} {done}"
        sys.stderr.write("\r" + text)
        sys.stderr.flush()

    def close(self):
        if self._shown and self._next:
            sys.stderr.write("\n")


class _Tqdm:
    def __init__(self, what, bar):
        self._bar = bar(desc=what)

    def __call__(self, done, total):
        if total and self._bar.total != total:
            self._bar.reset(total)
        self._bar.update(done - self._bar.n)

    def close(self):
        self._bar.close()


def start(progress, what, rank=0):
    """Something to be called with (done, total), and closed; or None. `progress` is True, False or
    a function."""
    if callable(progress):
        return _Told(progress)
    if not progress or rank:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(what)
    return _Tqdm(what, tqdm)


class _Told:
    def __init__(self, function):
        self._function = function

    def __call__(self, done, total):
        self._function(done, total)

    def close(self):
        pass
