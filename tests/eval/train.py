"""Trains the CHAT weights of src/retrieval/weights.rs from the dev sets, and prints cross-validated figures.

    python train.py --recipe DIR_OF_RECIPE_PY --table table-128-int4.npz --data DIR_OF_DEV_JSON

Needs numpy, scipy, snowballstemmer and recipe.py (text, index and the old features; this file adds the new ones).
LoCoMo: leave one conversation out, date headings of HEAD tokens charged once a packed day. GVD-cn: full LoCoMo fit, R@k of pages.
Under a minute on one core. The data and recipe.py are not part of the project: see the README on evaluation.
"""
import argparse, json, math, re, sys, time
import numpy as np
from scipy.optimize import minimize

ap = argparse.ArgumentParser()
for name in ('recipe', 'table', 'data'):
    ap.add_argument(f'--{name}', required=True)
arg = ap.parse_args()
sys.path.insert(0, arg.recipe)
import recipe as R

HEAD = 7            # tokens of a date heading
LAMBDA = .001       # L2: loss + LAMBDA/2 |w|^2, loss = mean over questions
NEGATIVES = 200     # non-evidence atoms kept a question: the best by the recipe's CHAT
BUDGETS = (256, 512, 1024, 2048)
OLD = list(R.CHAT)
NEW = [f for f in OLD if f not in ('pba', 'cap')] + ['midf', 'spk2', 'ra', 'caps']
CAPS = re.compile(r'(?<![.!?] )(?<!^)\b[A-Z][a-z]+')
PAIR = re.compile(r'\b(both|common|share|each other|together)\b')
load = lambda name: json.load(open(f'{arg.data}/{name}-dev.json'))['conversations']
table = R.Table(arg.table)


def is_list(q):
    """The question asks for several things: cheap cues, no vocabulary."""
    w = re.findall(r'\w+', q.lower())
    if set(w) & {'both', 'common', 'all', 'kind', 'kinds', 'type', 'types', 'sort', 'sorts', 'list', 'besides', 'ways'} or 'how many' in ' '.join(w):
        return True
    plural = lambda x: len(x) >= 5 and x.isascii() and x.isalpha() and x[-1] == 's' and x[-2] != 's'
    return any(a in ('what', 'which') and (w[i + 1] in ('has', 'have', 'do', 'does') or any(plural(x) for x in w[i + 1:i + 3]))
               for i, a in enumerate(w[:-1]))


class Conversation(R.Conversation):
    """Adds midf, caps (properties of an atom) and spk2, ra (of question and atom)."""

    def __init__(self, turns, table):
        super().__init__(turns, table)
        top = math.log(1 + 2 * self.n)
        # Content rows: neither stop words nor punctuation (StaticTable::is_content).
        bad = {self.pos[i] for i in table.rows(' '.join(sorted(R.STOP)) + ' . , ! ? ; : \' " - ( ) [ ] … ’') if i in self.pos}
        ok = np.array([k not in bad for k in range(len(self.idf))], np.float32)
        num, den = np.add.reduceat((self.idf * ok)[self.flat], self.off), np.add.reduceat(ok[self.flat], self.off)
        self.midf = (num / np.maximum(den, 1) / top).astype(np.float32)
        self.caps = np.array([min(3, len(CAPS.findall(a))) / 3 for a in self.atoms], np.float32)
        self.mass = np.maximum(np.add.reduceat(self.idf[self.flat], self.off), 1e-6)
        days = [str(t.get('time'))[:10] for t in turns]
        self.day = np.unique(days, return_inverse=True)[1]

    def features(self, q, **kw):
        D, ql, bare, zero = super().features(q, **kw), q.lower(), self.bare(q), np.zeros(self.m, np.float32)
        D['midf'], D['caps'] = self.midf, self.caps
        at = lambda s: ql.find(s) if R.is_cjk(s[0]) else (m.start() if (m := re.search(rf'\b{re.escape(s)}\b', ql)) else -1)
        named = sorted((s for s in self.names if at(s) >= 0), key=at)
        pair = len(named) > 1 and (PAIR.search(ql) or re.search(rf'\b{re.escape(named[0])} and {re.escape(named[1])}\b', ql))
        D['spk2'] = (self.low == named[0]).astype(np.float32)[self.at] if len(named) > 1 and not pair else zero
        D['ra'] = zero
        lean = ' '.join(w for w in re.findall(r'[\u3400-\u9fff]+|[a-z0-9]+', bare.lower()) if w not in R.STOP)
        ids = list(dict.fromkeys(self.table.rows(lean) or self.table.rows(bare))) if self.table.readable(q) else []
        if ids:
            S = np.maximum(self.U @ self.table.unit[ids].T, 0)
            num = np.add.reduceat(S.max(1)[self.flat] * self.idf[self.flat], self.off)
            num[self.empty] = 0
            D['ra'] = R.mm(num / self.mass)
        return D

    def pack(self, score, budget, rep=R.REP):
        """recipe.pack with the heading paid once a day."""
        value = score - R.P * np.log(np.maximum(self.cost + self.label[self.at], 1))
        cand = np.argsort(-value, kind='stable')[:R.POOL]
        value, turn = value[cand].copy(), self.at[cand]
        used, out, turns, days = 0, set(), set(), set()
        for _ in range(len(cand)):
            k = int(np.argmax(value))
            a, t = int(cand[k]), int(turn[k])
            value[k] = -np.inf
            c = int(self.cost[a]) + (0 if t in turns else int(self.label[t])) + (0 if self.day[t] in days else HEAD)
            if used + c > budget:
                if budget - used < 8:
                    break
                continue
            used += c
            out.add(a)
            days.add(self.day[t])
            if t not in turns:
                value[turn == t] -= rep
                turns.add(t)
        return out


# ------------------------------------------------------------------ training
class Rows:
    """Rows of the listwise softmax: per question its negatives, then the atoms of each evidence turn (a group).
    Loss = mean over questions of the mean over groups of -log(sum_group e^s / (sum_group e^s + sum_negatives e^s))."""

    def __init__(self, qs, names):
        X, row_q, row_g, share = [], [], [], []
        for k, q in enumerate(qs):
            X.append(q.X[names][:, np.r_[q.neg, np.concatenate(q.pos)]].T)
            row_q += [k] * len(X[-1])
            row_g += [-1] * len(q.neg)
            for p in q.pos:
                row_g += [len(share)] * len(p)
                share.append((k, 1 / len(q.pos)))
        self.X, self.q, self.g, self.n = np.ascontiguousarray(np.concatenate(X), np.float32), np.array(row_q), np.array(row_g), len(qs)
        self.gq, self.gw = np.array([a for a, _ in share]), np.array([b for _, b in share])
        self.start, self.p = np.searchsorted(self.q, np.arange(self.n)), self.g >= 0

    def loss(self, w):
        s = self.X @ w.astype(np.float32)
        E = np.exp(s - np.maximum.reduceat(s, self.start)[self.q]).astype(float)
        neg = np.bincount(self.q[~self.p], E[~self.p], self.n)
        G = np.bincount(self.g[self.p], E[self.p], len(self.gw)) + 1e-30
        D = G + neg[self.gq]
        d = np.empty(len(s))
        d[self.p] = (self.gw / D - self.gw / G)[self.g[self.p]] * E[self.p]
        d[~self.p] = np.bincount(self.gq, self.gw / D, self.n)[self.q[~self.p]] * E[~self.p]
        grad = self.X.T @ (d / self.n).astype(np.float32)
        return (self.gw * np.log(D / G)).sum() / self.n + LAMBDA / 2 * (w @ w), grad + LAMBDA * w


def fit(qs, names):
    r = Rows(qs, names)
    return minimize(r.loss, np.zeros(len(names)), jac=True, method='L-BFGS-B', options=dict(maxiter=150, ftol=1e-7)).x


class Q:
    pass


def questions():
    out = []
    for fold, d in enumerate(load('locomo')):
        c, pos = Conversation(d['turns'], table), {t['id']: i for i, t in enumerate(d['turns'])}
        for raw in d['questions']:
            ev = [pos[e] for e in raw.get('evidence_turns') or [] if e in pos]
            if not ev or raw['category'] in ('adversarial', 5):
                continue
            q = Q()
            q.c, q.fold, q.cat, q.ev, q.gold = c, fold, raw['category'], ev, [R.gold_atom(c, e, raw) for e in ev]
            q.list, D = is_list(raw['question']), c.features(raw['question'])
            base = sum(w * D[f] for f, w in R.CHAT.items())
            q.X = FeatureTable(D)
            q.pos = [np.where(c.at == e)[0] for e in ev]
            other = np.where(~np.isin(c.at, ev))[0]
            q.neg = other[np.argsort(-base[other], kind='stable')[:NEGATIVES]]
            out.append(q)
    return out


class FeatureTable:
    def __init__(self, D):
        self.names = list(dict.fromkeys(OLD + NEW))
        self.M, self.ix = np.stack([D[f] for f in self.names]).astype(np.float32), {f: i for i, f in enumerate(self.names)}

    def __getitem__(self, names):
        return self.M[[self.ix[f] for f in names]]


# ------------------------------------------------------------------ measures
def measure(qs, weights_of, names, rep=lambda q: R.REP):
    rows = []
    for q in qs:
        s, row = np.asarray(weights_of(q), np.float32) @ q.X[names], []
        for b in BUDGETS:
            got = q.c.pack(s, b, rep(q))
            turns = {int(q.c.at[a]) for a in got}
            row.append((np.mean([e in turns for e in q.ev]), np.mean([g in got for g in q.gold])))
        rows.append(row)
    return np.array(rows)                       # questions x budgets x (evidence, strict)


def line(name, A, qs, B=None):
    multi = np.array([q.cat == 'multi-hop' for q in qs])
    f = lambda v: ' '.join(f'{x:.3f}' for x in v)
    print(f'{name:34s} evidence {f(A[..., 0].mean(0))} | strict {f(A[..., 1].mean(0))} | multi-hop@1024 {A[multi, 2, 0].mean():.3f}', flush=True)
    if B is not None:
        d, fold = A - B, np.array([q.fold for q in qs])
        se = lambda x: x.std(0) / math.sqrt(len(x))
        print(f'{"  paired gain":34s} evidence ' + ' '.join(f'{x:+.3f}({y:.3f})' for x, y in zip(d[..., 0].mean(0), se(d[..., 0])))
              + f' strict@512 {d[:, 1, 1].mean():+.3f}({se(d[:, 1, 1]):.3f}) multi-hop@1024 {d[multi, 2, 0].mean():+.3f}({se(d[multi, 2, 0]):.3f})'
              + ' | J by fold ' + ' '.join(f'{d[fold == k].mean():+.3f}' for k in np.unique(fold)))


def cv(qs, names):
    w = {k: fit([q for q in qs if q.fold != k], names) for k in {q.fold for q in qs}}
    return lambda q: w[q.fold]


def gvd(weights):
    rows = []
    for d in load('gvd-cn'):
        c, page = Conversation(d['turns'], table), np.array([t['page'] for t in d['turns']])
        for q in d['questions']:
            s, best = c.score(q['question'], weights), {}
            for a, x in enumerate(s):
                p = page[c.at[a]]
                best[p] = max(best.get(p, -9e9), x)
            order = sorted(best, key=lambda p: -best[p])
            rows.append([np.mean([e in order[:k] for e in q['evidence_pages']]) for k in (1, 3, 5, 10)])
    return np.mean(rows, 0)


if __name__ == '__main__':
    t0, qs = time.time(), questions()
    print(f'{len(qs)} LoCoMo questions, list cue on {np.mean([q.list for q in qs]):.2f}, on multi-hop {np.mean([q.list for q in qs if q.cat == "multi-hop"]):.2f}')
    shipped = np.array([R.CHAT[f] for f in OLD])
    line('shipped CHAT (in sample)', measure(qs, lambda q: shipped, OLD), qs)
    old, new = cv(qs, OLD), cv(qs, NEW)
    A = measure(qs, old, OLD)
    line('CV, old features, retrained', A, qs)
    B = measure(qs, new, NEW)
    line('CV, new features', B, qs, A)
    C = measure(qs, new, NEW, lambda q: 1. if q.list else R.REP)
    line('CV, new features, REP 1 for lists', C, qs, A)
    line('   ... over new features', C, qs, B)
    w = fit(qs, NEW)
    line('full fit (in sample)', measure(qs, lambda q: w, NEW), qs)
    line('full fit, REP 1 for lists', measure(qs, lambda q: w, NEW, lambda q: 1. if q.list else R.REP), qs)
    weights = {f: round(float(x), 3) for f, x in zip(NEW, w)}
    print('CHAT =', weights)
    print('GVD-cn R@1/3/5/10 shipped', np.round(gvd(R.CHAT), 3), 'new', np.round(gvd(weights), 3))
    print(f'{time.time() - t0:.0f} s')
