"""Short programs that use specviz as a library."""
