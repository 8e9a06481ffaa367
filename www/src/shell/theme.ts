import { effect } from '@preact/signals';
import { preference } from './preference';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = preference<Theme>('theme', 'auto', themes);

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
