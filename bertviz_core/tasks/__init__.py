"""Jobs as JSON, and the process that performs them."""
