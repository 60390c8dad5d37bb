/** A program of its own, so that it can be stopped: lets the SDK download the Temporal CLI. Arguments: folder, version. */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [, , downloadDir, version] = process.argv;
if (downloadDir === undefined || version === undefined) throw new Error('usage: sdk-download FOLDER VERSION');
// The SDK has no call that only downloads: it starts a server, which is stopped at once.
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir, version } },
});
await environment.teardown();
