// The few pictures of the interface, as strokes that take the colour of their text.
const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  operations: 'M5 12h14M13 6l6 6-6 6M5 6v12',
  documents: 'M7 3h7l4 4v14H7zM14 3v4h4M10 12h5M10 16h5',
  watches: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  sweeps: 'M4 6h16M4 12h10M4 18h7M17 15l2 2 3-4',
  sync: 'M20 7v5h-5M4 17v-5h5M19 12a7 7 0 0 0-12-4L4 11M5 12a7 7 0 0 0 12 4l3-3',
  feed: 'M3 12h4l3-8 4 16 3-8h4',
  playground: 'M8 8l-4 4 4 4M16 8l4 4-4 4M13 5l-2 14',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16.5 16.5 21 21',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  close: 'M6 6l12 12M18 6 6 18',
  menu: 'M4 7h16M4 12h16M4 17h16',
  filter: 'M4 6h16M7 12h10M10 18h4',
  expand: 'M14 4h6v6M20 4l-8 8M10 20H4v-6M4 20l8-8',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
