export { reportLine } from './report.mjs';
