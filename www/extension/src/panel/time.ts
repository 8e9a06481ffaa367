import { lang, t } from '../words';

const format = new Intl.DateTimeFormat(navigator.languages.find((each) => each.startsWith(lang().slice(0, 2))) ?? lang(), { dateStyle: 'medium', timeStyle: 'short' });

export const showTime = (ms: number | null): string => (ms === null ? t('undated') : format.format(ms));
