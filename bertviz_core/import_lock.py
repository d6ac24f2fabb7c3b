"""One lock for deferred imports: these libraries have modules that import each other, and of
two threads that begin at once one would get a module that is not complete."""

import threading

IMPORTING = threading.RLock()
