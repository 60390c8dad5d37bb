/** Entry point of `./swarmline`. What can be typed stands in program.ts. */
import { main } from './program.ts';

process.exitCode = await main(process.argv);
