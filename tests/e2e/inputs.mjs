/** Inputs that several tests share. */

export const addInput = (id, userInput, agentResponse) => ({ id, userInput, agentResponse, timestamp: '2026-03-02T09:00:00Z', session: 's' });

/** A sentence in each script, and a few characters of it to ask with. */
export const said = [
  { id: 'chinese', text: '我在巷子口买了一把藤椅。', ask: '藤椅' },
  { id: 'japanese', text: '駅前の喫茶店で抹茶パフェを食べました。', ask: '抹茶' },
  { id: 'thai', text: 'ฉันชอบกินข้าวเหนียวมะม่วงทุกวันอาทิตย์', ask: 'มะม่วง' },
  { id: 'arabic', text: 'اشتريت دراجة زرقاء من السوق القديم', ask: 'دراجة' },
  { id: 'russian', text: 'Мы посадили вишню возле калитки.', ask: 'вишню' },
  { id: 'korean', text: '어제 남산에서 연을 날렸어요.', ask: '남산에서' },
  { id: 'emoji', text: 'The garden party was lovely 🦩🎻', ask: '🦩' },
];
