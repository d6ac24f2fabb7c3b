"""Models: found with their files (`model_sources`, `checkpoint`), loaded as they were saved (`loading`, `load_report`), and
observed (`model`, `attention`, `loss`). What they read is made in `inputs`."""
