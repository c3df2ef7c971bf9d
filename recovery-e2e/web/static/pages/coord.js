import { createCoordinatorPane } from '../pane/coordinator.js';
import { openWorkstreamPage } from './workstream.js';

openWorkstreamPage(createCoordinatorPane);
