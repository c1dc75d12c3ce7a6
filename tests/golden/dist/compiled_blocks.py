"""The same as llama3_8b.py, small: blocks under fully_shard that are compiled one by one, heads that share keys, rotations by
complex numbers, selective checkpoints, and a loss that is compiled."""

import llama3_8b as llama

SIZES = {"DIM": 512, "LAYERS": 2, "HEADS": 8, "KV_HEADS": 2, "HIDDEN": 1792, "VOCAB": 2048, "LENGTH": 512, "STEPS": 2}

for name, size in SIZES.items():
    setattr(llama, name, size)
llama.main()
