import type { TraitView } from 'memstrata';
import { language } from '../i18n/language';

export function traitName(trait: Pick<TraitView, 'name' | 'chineseName'>): string {
  return language.value === 'zh' ? trait.chineseName : trait.name;
}
