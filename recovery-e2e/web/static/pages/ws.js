import { createInteractivePane } from '../pane/interactive.js';
import { openWorkstreamPage } from './workstream.js';

openWorkstreamPage(createInteractivePane);
