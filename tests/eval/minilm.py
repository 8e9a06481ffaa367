"""The forward pass of all-MiniLM-L6-v2 in numpy: rows of WordPiece ids in, sentence vectors of unit length out.

    python minilm.py DIR      DIR holds model.safetensors; started by minilm.mjs

One JSON object a line. Says {"dimensions"} once the weights are read; then {"id","rows":[[id,...],...]} in gives
{"id","vectors"} out, the rows' vectors in order as base64 of little-endian float32, or {"id","error"}. Ends with its input.

BERT, 6 layers, 12 heads, 384 wide; mean over all tokens, then unit length. Tokens of several texts lie in one matrix, one
after the other without padding, so that a vector does not depend on what else was asked; attention goes text by text.
"""
import base64, json, sys
from pathlib import Path
import numpy as np

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12       # of the layer norms
TOKENS_AT_ONCE = 2048  # bounds memory: one matrix of 4 * WIDTH columns is 12 MB
ROWS_AT_ONCE = 32      # keeps what gelu makes in between within the cache


def safetensors(path):
    """Name to matrix, float32. Layout: u64 length of a JSON header, the header, then the numbers it gives the places of."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], 'little')
    header = json.loads(raw[8:start])
    header.pop('__metadata__', None)
    tensors = {}
    for name, entry in header.items():
        if entry['dtype'] == 'F32':
            begin, end = entry['data_offsets']
            tensors[name] = np.frombuffer(raw[start + begin:start + end], '<f4').reshape(entry['shape'])
    return tensors


def gelu(x):
    """In place: x * Phi(x), with erf of Abramowitz and Stegun 7.1.26 (error under 1.5e-7)."""
    for begin in range(0, len(x), ROWS_AT_ONCE):
        part = x[begin:begin + ROWS_AT_ONCE]
        z = np.abs(part) * np.float32(0.5 ** 0.5)
        t = 1 / (1 + np.float32(0.3275911) * z)
        tail = np.float32(1.061405429) * t
        for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            tail += np.float32(c)
            tail *= t
        tail *= np.exp(-z * z) * np.float32(0.5)
        part *= np.where(part < 0, tail, 1 - tail)
    return x


class MiniLM:
    def __init__(self, folder):
        self.w = safetensors(Path(folder) / 'model.safetensors')
        shape = self.w['embeddings.word_embeddings.weight'].shape
        if shape[1] != WIDTH or f'encoder.layer.{LAYERS - 1}.output.dense.weight' not in self.w:
            raise ValueError(f'{folder} holds another model: {shape[1]} wide, not {WIDTH} with {LAYERS} layers')
        # One multiplication for query, key and value.
        for n in range(LAYERS):
            at = f'encoder.layer.{n}.attention.'
            for kind in ('weight', 'bias'):
                self.w[f'{at}qkv.{kind}'] = np.concatenate([self.w[f'{at}self.{part}.{kind}'] for part in ('query', 'key', 'value')])

    def dense(self, x, name):
        return x @ self.w[f'{name}.weight'].T + self.w[f'{name}.bias']

    def norm(self, x, name):
        x = x - x.mean(1, keepdims=True)
        x /= np.sqrt(np.square(x).mean(1, keepdims=True) + np.float32(EPSILON))
        return x * self.w[f'{name}.weight'] + self.w[f'{name}.bias']

    def attend(self, qkv):
        """Of one text: (tokens, 3 * WIDTH) to (tokens, WIDTH)."""
        q, k, v = qkv.reshape(len(qkv), 3, HEADS, WIDTH // HEADS).transpose(1, 2, 0, 3)
        s = q @ k.transpose(0, 2, 1) * np.float32((WIDTH // HEADS) ** -0.5)
        s = np.exp(s - s.max(2, keepdims=True))
        s /= s.sum(2, keepdims=True)
        return (s @ v).transpose(1, 0, 2).reshape(len(qkv), WIDTH)

    def vectors(self, rows):
        cuts = np.cumsum([0] + [len(row) for row in rows])
        texts = [slice(a, b) for a, b in zip(cuts, cuts[1:])]
        w = self.w
        x = w['embeddings.word_embeddings.weight'][np.concatenate(rows)] + w['embeddings.token_type_embeddings.weight'][0]
        x += w['embeddings.position_embeddings.weight'][np.concatenate([np.arange(len(row)) for row in rows])]
        x = self.norm(x, 'embeddings.LayerNorm')
        for n in range(LAYERS):
            at = f'encoder.layer.{n}.'
            qkv = self.dense(x, at + 'attention.qkv')
            seen = np.concatenate([self.attend(qkv[text]) for text in texts])
            x = self.norm(x + self.dense(seen, at + 'attention.output.dense'), at + 'attention.output.LayerNorm')
            wide = gelu(self.dense(x, at + 'intermediate.dense'))
            x = self.norm(x + self.dense(wide, at + 'output.dense'), at + 'output.LayerNorm')
        means = np.stack([x[text].mean(0) for text in texts])
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    def batches(self, rows):
        """Runs of rows of no more tokens than fit at once."""
        batch, tokens = [], 0
        for row in rows:
            if batch and tokens + len(row) > TOKENS_AT_ONCE:
                yield batch
                batch, tokens = [], 0
            batch.append(row)
            tokens += len(row)
        yield batch


def say(message):
    print(json.dumps(message), flush=True)


def main():
    model = MiniLM(sys.argv[1])
    say({'dimensions': WIDTH})
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = np.concatenate([model.vectors(batch) for batch in model.batches(asked['rows'])])
            say({'id': asked['id'], 'vectors': base64.b64encode(found.astype('<f4').tobytes()).decode()})
        except Exception as error:
            say({'id': asked['id'], 'error': f'{type(error).__name__}: {error}'})


if __name__ == '__main__':
    main()
