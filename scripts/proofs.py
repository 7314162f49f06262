"""`make proofs`: every small config on every mesh that its spec's plan allows, written to docs/proofs.md."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from shardc.cli.specs import resolve_file
from shardc.diagnostics import Diagnostic
from shardc.emit.tree import replace_file
from shardc.plan.resolved import Resolved
from shardc.prove.findings import shown
from shardc.prove.proof import Proof, computed, planned
from shardc.prove.small import small_configs
from shardc.prove.subject import made_up

ROOT = Path(__file__).parent.parent
SMALL = ROOT / "specs" / "small"
PAGE = ROOT / "docs" / "proofs.md"
#: What is tried with each model; meshes that the plan refuses are in the page with the reason.
MESHES = ({"tp": 2}, {"tp": 3}, {"tp": 4}, {"ep": 2}, {"tp": 2, "ep": 2})
_HEAD = """\
# Proofs by numbers

Every model below was built by transformers with random weights, written to safetensors under the names of published
checkpoints, and loaded by the generated module of its spec on every rank of the mesh, each rank a process. Between the
ranks nothing happened but the collectives that the plan lists. The table gives the largest difference of the ranks'
logits from the whole model's: float32 sums in another order differ by some 1e-6 of the largest logit, a wrong cut by
1e-2 and more; 1e-4 is allowed.

```mermaid
flowchart LR
  model["the model, whole<br/>(transformers)"] -->|"published names"| file[(safetensors)]
  spec["specs/NAME.yaml"] -->|"shardc build"| loader["generated/NAME.py"]
  file --> loader
  loader --> zero["rank 0: the same class<br/>with its own weights"]
  loader --> one["rank 1: the same class<br/>with its own weights"]
  zero <-->|"the plan's collectives,<br/>nothing else"| one
  model --> compare{{{{"logits equal?"}}}}
  zero --> compare
  one --> compare
```

{models} models of {specs} specs: {proofs} proofs, the largest difference {largest:.1e} of the largest logit.
{refused} meshes are refused by the plan before anything is loaded. {seconds:.0f} seconds on {cores} cores.

`shardc prove NAME --tp N --ep N` proves one, `make proofs` writes this page. The configs are in
[specs/small](../specs/small). [faults.md](faults.md) has the faults that were planted to see what finds them,
[peers.md](peers.md) the same models cut by transformers itself. Heads dealt unevenly over three ranks (`spread`) are
proved in tests/prove/test_spread.py, trained weights in tests/prove/test_real_weights.py.

| spec | model | config | tp | ep | max difference | of the largest | seconds |
|---|---|---|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True)
class Row:
    """One model on one mesh: what came of it, or why the plan refuses the mesh."""

    spec: str
    model: str
    config: str
    mesh: dict[str, int]
    proof: Proof
    refused: str = ""

    @property
    def key(self) -> str:
        """The columns that say what was proved, as the page has them."""
        sizes = " | ".join(str(self.mesh.get(dim, 1)) for dim in ("tp", "ep"))
        return f"| {self.spec} | {self.model} | {self.config} | {sizes} |"

    def line(self) -> str:
        """Its line in the page."""
        if self.refused:
            return f"{self.key} refused: {self.refused} | | |"
        apart = self.proof.difference
        numbers = f"{apart.absolute:.1e} | {apart.relative:.1e}" if apart else "failed | "
        return f"{self.key} {numbers} | {self.proof.seconds:.1f} |"


def meshes(spec: Resolved) -> list[dict[str, int]]:
    """Those of MESHES that are over the spec's mesh dims."""
    return [mesh for mesh in MESHES if set(mesh) <= set(spec.mesh_dims)]


def proved(spec: Resolved, config: Path) -> Iterator[Row]:
    """One small config on all its meshes."""
    with tempfile.TemporaryDirectory(prefix="shardc-proofs-") as folder:
        subject = made_up(config, spec, Path(folder))
        for mesh in meshes(spec):
            plan, findings = planned(subject, spec, mesh)
            proof = Proof(mesh, 0.0, findings=findings) if plan is None or findings else computed(subject, plan, _quiet)
            refused = findings[0].message if findings and all(map(_of_the_mesh, findings)) else ""
            yield Row(spec.spec.name, subject.architecture, config.stem, mesh, proof, refused)


def _of_the_mesh(finding: Diagnostic) -> bool:
    """Whether it is an axis, a cut or a contract that stands in the way, and not the file."""
    return finding.code.startswith(("SHD2", "SHD3"))


def page(rows: Sequence[Row], seconds: float) -> str:
    """The Markdown of docs/proofs.md."""
    computed_ones = [row.proof.difference.relative for row in rows if row.proof.difference]
    head = _HEAD.format(
        models=len({row.model for row in rows}),
        specs=len({row.spec for row in rows}),
        proofs=len(computed_ones),
        largest=max(computed_ones),
        refused=sum(bool(row.refused) for row in rows),
        seconds=seconds,
        cores=os.cpu_count(),
    )
    return head + "\n".join(row.line() for row in rows) + "\n"


def _quiet(text: str) -> None:
    """Nothing is said of single ranks."""


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Prove the specs of NAMES, or all of them, which writes the page."""
    began = time.perf_counter()
    rows: list[Row] = []
    for file in sorted((ROOT / "specs").glob("*.yaml")):
        if names and file.stem not in names:
            continue
        spec, findings = resolve_file(file)
        if spec is None:
            raise click.ClickException(f"{file}: {findings[0].message}")
        for config in small_configs(SMALL, spec.spec.architectures):
            for row in proved(spec, config):
                click.echo(row.line())
                rows.append(row)
    wrong = [row for row in rows if row.proof.findings and not row.refused]
    for row in wrong:
        for finding in row.proof.findings:
            click.echo(f"{row.config} at {shown(row.mesh)}: {finding.code} {finding.message} {' '.join(finding.notes)}")
    if not names:
        replace_file(PAGE, page(rows, time.perf_counter() - began))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
