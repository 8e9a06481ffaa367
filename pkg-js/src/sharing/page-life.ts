/** A page that is frozen or put into the back-forward cache runs no code, and must own nothing while it does. */
export interface PageLife {
  /** Tells when it is about to stop, and when it goes on; the returned function ends that. Both may be said twice. */
  watch(stops: () => void, goesOn: () => void): () => void;
}

type Target = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;

/** Workers are not told: they stop with their page, or are ended. */
export const pageLife: PageLife = {
  watch(stops, goesOn) {
    const { document } = globalThis as { document?: Target };
    if (!document) return () => undefined;
    const window = globalThis as unknown as Target;
    const stored = (then: () => void) => (event: Event): void => {
      // A page that is left for good takes its locks along.
      if ((event as PageTransitionEvent).persisted) then();
    };
    const ears: [Target, string, (event: Event) => void][] = [
      [document, 'freeze', stops],
      [document, 'resume', goesOn],
      [window, 'pagehide', stored(stops)],
      [window, 'pageshow', stored(goesOn)],
    ];
    for (const [target, type, listener] of ears) target.addEventListener(type, listener);
    return () => {
      for (const [target, type, listener] of ears) target.removeEventListener(type, listener);
    };
  },
};
