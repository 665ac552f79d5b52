#!/usr/bin/python3
"""usage: peak.py FILE COMMAND...: runs a command, and adds its peak memory in KiB to a file."""
import os
import sys

child = os.fork()
if not child:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "a") as file:
    file.write(f"{usage.ru_maxrss}\n")
sys.exit(os.waitstatus_to_exitcode(status))
