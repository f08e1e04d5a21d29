"""Runs a program on a pseudo-terminal: python3 terminal.py ROWS COLUMNS PROGRAM ARGUMENT...

What it writes comes out of standard output; standard input is what somebody types. Exits as the program does.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

rows, columns = int(sys.argv[1]), int(sys.argv[2])
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])

typing = [0]
while True:
    ready, _, _ = select.select([master, *typing], [], [])
    if 0 in ready:
        typed = os.read(0, 4096)
        if typed:
            os.write(master, typed)
        else:
            typing = []
    if master in ready:
        try:
            written = os.read(master, 65536)
        except OSError:  # The program has closed its end.
            break
        if not written:
            break
        os.write(1, written)

_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
