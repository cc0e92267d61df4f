// Starts the page.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import './styles/base.css';
import './styles/controls.css';
import './styles/frame.css';
import './styles/list.css';
import './styles/panel.css';
import './styles/views.css';
import './styles/layers.css';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
