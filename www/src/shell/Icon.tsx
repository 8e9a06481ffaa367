import type { Place } from './places';

const paths: Record<Place, string> = {
  chat: 'M4 5h16v11H9l-5 4z',
  strata: 'M3 7c6-2 12 2 18 0M3 12c6-2 12 2 18 0M3 17c6-2 12 2 18 0',
  inspector: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20',
  memory: 'M4 6h16M4 12h16M4 18h10',
  persona: 'M3 19h18M4 15h6M13 15h7M3 11h9M15 11h5M12 3a2.4 2.4 0 1 1 0 4.8 2.4 2.4 0 0 1 0-4.8z',
  data: 'M12 3v11m0 0l-4-4m4 4l4-4M4 17v3h16v-3',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  work: 'M12 4v4M12 16v4M4 12h4M16 12h4M6.5 6.5l2.8 2.8M14.7 14.7l2.8 2.8M17.5 6.5l-2.8 2.8M9.3 14.7l-2.8 2.8',
};

export function Icon({ place }: { place: Place }) {
  return (
    <svg class="icon-sign" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={paths[place]} />
    </svg>
  );
}
