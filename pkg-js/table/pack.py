#!/usr/bin/env python3
"""Pack a table written by build_table.py into the safetensors file that the wasm core loads.

    python pack.py TABLE.npz table-128-int4.safetensors --model-id memstrata-static-128-int4-v1

The same input gives the same bytes. Raise the version in the model id whenever the rows change: vectors of different ids
are never compared, and stored ones are embedded again. Needs numpy.
"""
import argparse, hashlib, json, struct
import numpy as np


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("table", help="the .npz of build_table.py, --bits 4")
    p.add_argument("out", help="the .safetensors to write")
    p.add_argument("--model-id", required=True, help="name and version of the embedding space")
    a = p.parse_args()
    z = np.load(a.table)
    bits, dims = int(z["bits"]), int(z["dims"])
    if bits != 4:
        raise SystemExit(f"{a.table} has {bits} bits; only 4 are packed")
    dtypes = {"q": "U8", "scale": "F16", "pieces": "U8", "zh": "U8"}
    # The two-byte tensor comes first, so that it stays aligned whatever the length of the others.
    header, payload = {}, b""
    for name in ("scale", "q", "pieces", "zh"):
        raw = np.ascontiguousarray(z[name].astype("<f2") if name == "scale" else z[name]).tobytes()
        header[name] = {"dtype": dtypes[name], "shape": list(z[name].shape), "data_offsets": [len(payload), len(payload) + len(raw)]}
        payload += raw
    header["__metadata__"] = {"model_id": a.model_id, "bits": str(bits), "dims": str(dims), "sha256": hashlib.sha256(payload).hexdigest()}
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    with open(a.out, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + payload)
    print(f"{a.out}: {z['q'].shape[0]} rows of {dims} dimensions, {8 + len(text) + len(payload)} bytes, sha256 {header['__metadata__']['sha256']}")


if __name__ == "__main__":
    main()
