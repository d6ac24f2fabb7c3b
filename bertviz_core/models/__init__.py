"""Models: their files (checkpoint), their inputs (reading, encoding) and their attention (attention)."""

import threading

# One lock for deferred imports: these libraries have modules that import each other, and of two threads that begin at
# once one would get a module that is not complete.
IMPORTING = threading.RLock()
