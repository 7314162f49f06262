"""How fast checkpoints load: the generated loaders beside other libraries, on the same files, in one run."""
