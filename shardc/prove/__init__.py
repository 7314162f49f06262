"""Proof by numbers: ranks that run on their own shards, with the plan's collectives, compute what the whole model does.

The reference is the model's own class in transformers, on the CPU. What it computes is compared with what its class
computes in a process for each rank, where every weight is what the generated loader gave that rank. Between the ranks
nothing happens but the collectives that the plan lists. What the harness knows of a class (`families/`) is how it names
its weights, and how it counts heads by the shapes of them: nothing of how anything is cut.
"""
