/** Build step: bundles the compiled workflow code once, for every worker of this version. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { bundlePath } from './bundle-path.ts';

const quiet = { trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error, log() {} };
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../workflows/index.js', import.meta.url)),
  logger: quiet,
});
await writeFile(bundlePath(), code);
