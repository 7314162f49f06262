"""Checkpoints by their headers: safetensors directories and tensor tables, read without a byte of weights."""

from shardc.checkpoint.checkpoint import TABLE_SUFFIXES, Checkpoint, read_checkpoint, table_name
from shardc.checkpoint.configs import Config, read_config
from shardc.checkpoint.headers import Header

__all__ = ["TABLE_SUFFIXES", "Checkpoint", "Config", "Header", "read_checkpoint", "read_config", "table_name"]
