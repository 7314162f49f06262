"""What the process that ranks are forked from imports beforehand."""

import transformers.modeling_utils

import shardc.prove.rank

__all__ = ["shardc", "transformers"]
