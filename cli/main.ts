/** Entry point of `./swarmline`. What can be typed stands in program.ts. */
import { main } from './program.ts';

// The reader of a pipe may have seen enough (`| head`): that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await main(process.argv);
