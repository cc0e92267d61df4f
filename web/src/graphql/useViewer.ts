// The viewer as components see them. Inside the frame there always is one.
import { createContext, useContext } from 'react';
import type { Viewer } from './session';

export const ViewerContext = createContext<Viewer>({ did: null, roles: [] });

export function useViewer(): Viewer {
  return useContext(ViewerContext);
}
