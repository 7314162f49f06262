"""The reference: a class of transformers, built from a config, with weights in which every part matters."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import transformers
from torch import nn

from shardc.prove.families import family_of
from shardc.prove.family import Family, Tensors

#: What is computed in. Weights are rounded to BF16, as files hold them, so that a file loses nothing.
COMPUTE = torch.float32
SEED = 20


class NoReference(Exception):
    """transformers has no model to compare with: no class of the name, or none that can be made of the config."""


def model_class(config: Mapping[str, Any]) -> Any:
    """The class that a config's first architecture names. Raises NoReference."""
    names = config.get("architectures") or ["none"]
    found = getattr(transformers, str(names[0]), None)
    if found is None or not hasattr(found, "_from_config"):
        raise NoReference(f"transformers {transformers.__version__} has no model class {names[0]}")
    return found


def build(config: Mapping[str, Any]) -> Any:
    """A model of the config's class, in evaluation, computing in float32; its weights are what its class makes them.

    Raises NoReference.
    """
    cls = model_class(config)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    with told_of(f"make a {cls.__name__} of the config"):
        known = cls.config_class.from_dict({**config, "use_cache": False})
        known._experts_implementation = "eager"
        model = cls._from_config(known, attn_implementation="eager", dtype=COMPUTE)
    return ready(model, config)


@contextlib.contextmanager
def told_of(what: str) -> Iterator[None]:
    """Whatever a class of transformers raises, as NoReference that says what it could not do."""
    try:
        yield
    except Exception as error:
        said = str(error).strip().splitlines() or [""]
        version = transformers.__version__
        raise NoReference(f"transformers {version} cannot {what}: {type(error).__name__}: {said[0]}") from error


def ready(model: Any, config: Mapping[str, Any]) -> Any:
    """The model in evaluation, with what its class has wrong put right."""
    family_of(str(config["model_type"])).mend(model)
    return model.eval()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Small sums are sooner done than dealt to threads, and always in the same order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def randomise(model: nn.Module, family: Family) -> None:
    """Weights that let every element of every tensor change the output, all of them exact in BF16.

    A matrix keeps the size of what it is given; vectors (norms, biases, decays) are moved off the constants that their
    classes begin with. Buffers that belong to the file are moved too, and tables of the family are filled.
    """
    generator = torch.Generator().manual_seed(SEED)
    stored = set(model.state_dict(keep_vars=True))
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if name in stored and tensor.is_floating_point():
                noise = torch.randn(tensor.shape, generator=generator)
                small = tensor.ndim < 2
                new = tensor + _step(name) * noise if small else noise / _fan_in(name, tensor) ** 0.5
                tensor.copy_(new.bfloat16().to(tensor.dtype))
    for module in model.modules():
        fill = family.tables.get(type(module).__name__)
        if fill is not None:
            fill(module)


def _step(name: str) -> float:
    """How far a vector is moved; a bias that chooses experts so little that every expert is still chosen."""
    return 0.1 if "correction_bias" in name else 0.2


def _fan_in(name: str, tensor: torch.Tensor) -> float:
    return 1.0 if "embed" in name or "wte" in name else float(tensor.shape[-1])


def inputs(config: Any, family: Family) -> torch.Tensor:
    """[2, length] token ids of the vocabulary, among them the places of a picture where the model takes any."""
    generator = torch.Generator().manual_seed(SEED + 1)
    ids = torch.randint(3, text_config(config).vocab_size, (2, family.length), generator=generator)
    places = family.places(config)
    if places:
        ids[:, 1 : 1 + places] = config.image_token_id
    return ids


def ask(model: Any, family: Family, ids: torch.Tensor) -> torch.Tensor:
    """The model's answer to [batch, length] ids; where they have places for pictures, it sees some.

    A model that tells kinds of tokens apart is given all of them.
    """
    beside: Tensors = {}
    kinds = getattr(model.config, "type_vocab_size", None)
    if kinds:
        beside["token_type_ids"] = ids % kinds
    if bool((ids == getattr(model.config, "image_token_id", -1)).any()):
        beside |= family.pictures(model.config, ids)
    return answer(model(input_ids=ids, **beside))


def answer(output: Any) -> torch.Tensor:
    """[batch, length, vocab] logits.

    Of a model without a head it is the last hidden states, and behind them, as one more place, what it pools of them.
    """
    logits = getattr(output, "logits", None)
    if logits is None:
        pooled = getattr(output, "pooler_output", None)
        last = output.last_hidden_state
        logits = last if pooled is None else torch.cat([last, pooled[:, None]], dim=1)
    assert isinstance(logits, torch.Tensor)
    return logits.detach()


def text_config(config: Any) -> Any:
    """The part of a config that is of the language model."""
    return config.get_text_config()


@contextlib.contextmanager
def watched(model: nn.Module, wanted: bool) -> Iterator[dict[str, torch.Tensor]]:
    """Collects what each module puts out in a forward pass, in the order in which modules come to an end.

    Where it is not wanted, nothing is collected: of a large model it is much.
    """
    seen: dict[str, torch.Tensor] = {}

    def keep(name: str) -> Any:
        def hook(module: nn.Module, args: Any, output: Any) -> None:
            first = output[0] if isinstance(output, tuple) and output else output
            if isinstance(first, torch.Tensor) and first.is_floating_point():
                seen[name] = first.detach().clone()

        return hook

    modules = [(name, module) for name, module in model.named_modules() if name and wanted]
    handles = [module.register_forward_hook(keep(name)) for name, module in modules]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
