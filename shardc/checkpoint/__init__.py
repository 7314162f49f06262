"""Checkpoints by their headers: safetensors directories and tensor tables, read without a byte of weights."""

from shardc.checkpoint.checkpoint import Checkpoint, read_checkpoint
from shardc.checkpoint.configs import Config, read_config
from shardc.checkpoint.headers import Header

__all__ = ["Checkpoint", "Config", "Header", "read_checkpoint", "read_config"]
