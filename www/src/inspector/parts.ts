import type { Hit } from 'memstrata';
import type { Dictionary } from '../i18n/en';

/** Twenty terms are too many colours: a bar shows four families, and each family's terms are told in words. */
export const families = ['words', 'meaning', 'likeness', 'form'] as const;
export type Family = (typeof families)[number];

type Part = keyof Dictionary['partNames'];

const familyOfPart: Record<Part, Family> = {
  pba: 'words', pbv: 'words', pbs: 'words', gbv: 'words', gbs: 'words', exact: 'words',
  odt: 'meaning', odw: 'meaning', odv: 'meaning',
  ma: 'likeness', mt: 'likeness', mw: 'likeness',
  spk: 'form', isq: 'form', I: 'form', when: 'form', whcap: 'form', cap: 'form', date: 'form', rec: 'form',
};

export function isKnown(name: string): name is Part {
  return Object.hasOwn(familyOfPart, name);
}

/** A term this page does not know yet counts as form: it is shown under its own name. */
export function familyOf(name: string): Family {
  return isKnown(name) ? familyOfPart[name] : 'form';
}

/** What each family adds to a score; families that add nothing are left out. */
export function sums(hit: Hit): { family: Family; value: number }[] {
  return families
    .map((family) => ({ family, value: hit.parts.filter((part) => familyOf(part.name) === family).reduce((sum, part) => sum + part.value, 0) }))
    .filter(({ value }) => value !== 0);
}
