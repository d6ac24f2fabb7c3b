"""A server for a class: what stands between the network and the app. Only app.py imports it; pages know nothing of it.

The app is made for one's own machine; a teacher may start it for a class with BERTVIZ_PUBLIC=1 (docs/deploy.md).

- `startup` passes Streamlit what it does on starting (open a browser, import ahead what the first page needs), a route
  and the two middlewares below.
- `access` decides who may ask for what. A page of another site, whose Origin is not the Host that it asks for, gets
  403, so that it cannot act for a reader; host names are checked by Streamlit (server.allowedHosts). Of the messages
  of Streamlit's protocol those pass that its pages send: others empty everybody's caches. Metrics are closed.
- `limits` decides how much. On any server: open connections. With BERTVIZ_PUBLIC=1 also the bytes of files that arrive
  or are checked (of a session, and of all).
- `connection`: of one connection of a public server the size of messages, how many may wait, and how often a page runs.
- `credit`: how many runs a connection may still request, and what of that a new connection from the same address has.

Pages themselves wait for their turn (pages/shared/turns.py): at most two run at a time, since they share one
interpreter, the reader who has used the fewest runs first. A model is first opened by a process with limits
(bertviz_core/engine/first_opening.py).

Sessions and uploads are not here but where pages use them: each has a `Reader` (pages/shared/state/reader.py), whose
jobs and uploads nobody else sees; with BERTVIZ_PUBLIC=1 they end two minutes after the tab is closed. What a file may
do to the server is decided before it is stored, by a process with limits (bertviz_core/corpora/upload_check.py). Which
models and folders may be opened, and the sizes of the limits, are in `Access` (bertviz_core/settings.py), which
`services.access()` reads from the environment once. A full disk makes the store say so (bertviz_core/engine/store.py):
stored results are still shown.
"""
