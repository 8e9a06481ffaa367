/**
 * Conversations from a seeded grammar: sentences of people, places, things and dates, a fifth of them Chinese. Runs in
 * a page and in Node. The same number gives the same page, so any run can be repeated and any part made alone.
 */

/** mulberry32: 32 bits of state, good enough to draw words. */
function drawing(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { chance: (p) => next() < p, whole: (n) => Math.floor(next() * n), one: (list) => list[Math.floor(next() * list.length)] };
}

const split = (text) => text.split('|');
const EN = {
  person: split('my sister|my neighbour Paul|Dana from the office|my old teacher|the landlord|my cousin Irene|our trainer|Dr. Okafor|my brother-in-law|the carpenter|Mina|my flatmate Jonas'),
  place: split('the harbour|Lisbon|the allotment|the library on Mill Road|a village near Trento|the night market|our balcony|the swimming hall|Kyoto|the repair shop|the old mill|Glasgow'),
  thing: split('a second-hand cello|the blue bicycle|two jars of quince jam|a leaking tap|my passport|a book about tides|the sewing machine|a pair of hiking boots|the tax letter|a bag of tulip bulbs|the projector|a birthday cake with walnuts'),
  doing: split('learning to row|baking rye bread|painting the kitchen|training for the half marathon|cataloguing my photographs|looking for a new flat|growing tomatoes|studying for the driving test|mending the fence|rehearsing with the choir|keeping bees|writing to my grandmother'),
  when: split('yesterday|last week|on Tuesday|this morning|two days ago|at the weekend|in March|on the 14th|tonight|next month|since spring|an hour ago'),
  feel: split('It went better than I feared|I am still a little tired|That made my day|I would not do it again|It cost more than I thought|Nobody had told me how long it takes|I keep thinking about it|We laughed the whole evening'),
};
const ZH = {
  person: split('我姐姐|邻居老陈|同事小周|房东|我的老师|表弟阿磊|医生|教练|室友|外婆'),
  place: split('图书馆|杭州|菜市场|公司楼下|海边|老家|健身房|火车站|阳台|植物园'),
  thing: split('一把旧吉他|蓝色自行车|两瓶桂花酱|护照|一本讲潮汐的书|登山鞋|缝纫机|投影仪|生日蛋糕|一袋郁金香球根'),
  doing: split('学划船|烤面包|刷厨房的墙|准备半程马拉松|整理照片|找新房子|种番茄|考驾照|练合唱|养蜂'),
  when: split('昨天|上周|周二|今天早上|前天|周末|三月|十四号|今晚|下个月'),
  feel: split('比我想的顺利|现在还有点累|真的很开心|比预算贵了一些|我一直在想这件事|大家笑了一晚上'),
};
const SAY_EN = [
  (w) => `${w.when} I went to ${w.place} with ${w.person} and brought ${w.thing}.`,
  (w) => `I have been ${w.doing} ${w.when}, mostly at ${w.place}.`,
  (w) => `${w.person} asked me about ${w.thing} ${w.when}, order number ${w.code}.`,
  (w) => `Can you remind me to give ${w.thing} to ${w.person}? We meet at ${w.place} ${w.when}.`,
  (w) => `I used to like ${w.doing}, but now I would rather stay at ${w.place}.`,
];
const ANSWER_EN = [
  (w) => `That sounds good. For ${w.doing} I would start small, perhaps at ${w.place}.`,
  (w) => `Noted: ${w.thing}, ${w.code}, and ${w.person} knows about it.`,
  (w) => `How did ${w.person} take it? You said last time that ${w.place} is easiest ${w.when}.`,
];
const SAY_ZH = [
  (w) => `${w.when}我和${w.person}去了${w.place}，带了${w.thing}。`,
  (w) => `我最近在${w.doing}，一般是在${w.place}。`,
  (w) => `${w.person}${w.when}问我${w.thing}的事，订单号是${w.code}。`,
];
const ANSWER_ZH = [(w) => `听起来不错。${w.doing}可以从小处开始，比如在${w.place}。`, (w) => `记住了：${w.thing}，${w.code}，${w.person}也知道。`];

const upper = (s) => s[0].toUpperCase() + s.slice(1);

function words(draw, lexicon) {
  const w = Object.fromEntries(Object.entries(lexicon).map(([kind, list]) => [kind, draw.one(list)]));
  return { ...w, code: `${draw.one(['AB', 'KT', 'ERR', 'PX'])}-${1000 + draw.whole(9000)}-${draw.one(['a', 'b', 'c'])}` };
}

function text(draw, zh, forms, lexicon) {
  const n = 1 + draw.whole(3);
  const said = Array.from({ length: n }, () => draw.one(forms)(words(draw, lexicon)));
  const feel = draw.one(lexicon.feel);
  return zh ? `${said.join('')}${feel}。` : `${said.map(upper).join(' ')} ${feel}.`;
}

const START_MS = Date.UTC(2024, 0, 8, 8);
const PAGES_A_SESSION = 12;

/** The n-th page: two turns, and about twelve pages a session, two sessions a day. */
export function pageOf(n, seed = 7) {
  const draw = drawing(seed * 1_000_003 + n);
  const session = Math.floor(n / PAGES_A_SESSION);
  const zh = drawing(seed + session).chance(0.2);
  const [lexicon, say, answer] = zh ? [ZH, SAY_ZH, ANSWER_ZH] : [EN, SAY_EN, ANSWER_EN];
  return {
    id: `bench-${n}`,
    session: `session-${session}`,
    timestamp: START_MS + session * 12 * 3_600_000 + (n % PAGES_A_SESSION) * 180_000,
    userInput: text(draw, zh, say, lexicon),
    agentResponse: text(draw, zh, answer, lexicon),
  };
}

/** The n-th question; its words are of the same world, so that most questions have many candidates. */
export function questionOf(n, seed = 11) {
  const draw = drawing(seed * 1_000_003 + n);
  const zh = draw.chance(0.2);
  const w = words(draw, zh ? ZH : EN);
  return zh
    ? draw.one([`我和${w.person}去${w.place}带了什么？`, `${w.thing}的订单号是多少？`, `我什么时候开始${w.doing}？`])
    : draw.one([`What did I bring to ${w.place} with ${w.person}?`, `What is the order number of ${w.thing}?`, `When did I start ${w.doing}?`, `Who asked me about ${w.thing} ${w.when}?`]);
}
