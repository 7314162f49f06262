"""Ranks' parts as files: cutting a checkpoint into them, putting it together again, and cutting it anew.

Everything is streamed: what is held of a tensor is a block of it, whatever its size. It needs torch.
"""
