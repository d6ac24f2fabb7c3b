"""Models: found with their files (`model_sources`, `checkpoint`), loaded and compared with what was saved (`loading`,
`load_report`), and observed (`model`, `attention`, `loss`). Their inputs are made in `bertviz_core.inputs`."""
