import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ServiceFailed, startServices } from '../../../sandbox/index.ts';
import { type Bench, IMAGE, LIMITS, openBench } from './fixture.ts';

const SERVER = `const n = require("net"), port = Number(process.env.PORT); setTimeout(() => n.createServer((s) => s.on("error", () => 0).end(process.env.SAY)).listen(port), 300)`;
const ASK = (host: string, port: number): string =>
  `node -e 'require("net").connect(${port}, "${host}").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;

describe('services beside a step', () => {
  let bench: Bench;
  const server = `swarmline-test/server:${randomUUID().slice(0, 8)}`;
  const broken = `swarmline-test/broken:${randomUUID().slice(0, 8)}`;
  beforeAll(async () => {
    bench = openBench();
    const made = await bench.docker.createContainer({
      Image: IMAGE,
      Cmd: ['true'],
      Labels: { 'swarmline.instance': bench.instance },
    });
    const commit = (name: string, command: string[]): Promise<unknown> =>
      made.commit({ repo: name.split(':')[0], tag: name.split(':')[1], changes: `CMD ${JSON.stringify(command)}` });
    await commit(server, ['node', '-e', SERVER]);
    await commit(broken, ['sh', '-c', 'echo cannot find my data >&2; exit 3']);
    await made.remove();
  });
  afterAll(async () => {
    await bench.close();
    for (const name of [server, broken]) await bench.docker.getImage(name).remove({ force: true });
  });
  const key = (step: string) => ({ run: 'r1', task: 't1', attempt: 1, kind: 'gate' as const, step });
  const service = (name: string, port: number) => ({
    image: server,
    env: { PORT: String(port), SAY: `I am ${name}` },
    ready: `node -e 'require("net").connect(${port}).on("error", () => process.exit(1)).on("connect", () => process.exit(0))'`,
  });

  test('the step reaches each at localhost and by name, once ready, and nothing else', async () => {
    const services = await startServices({
      sandbox: bench.sandbox,
      services: { db: service('db', 5432), cache: service('cache', 6379) },
      key: key('a'),
      limits: LIMITS,
    });
    try {
      const outcome = await bench.run(`${ASK('db', 5432)}; ${ASK('localhost', 6379)}; ls /sys/class/net`, null, {
        network: services.network,
      });
      expect(outcome.output).toBe('I am db\nI am cache\nlo\n');
    } finally {
      await services.close();
    }
    expect(await bench.containers()).toEqual([]);
  });

  test('two steps at once each have their own on the same port', async () => {
    const both = await Promise.all(
      ['b', 'c'].map((step) =>
        startServices({
          sandbox: bench.sandbox,
          services: { db: service(step, 5432) },
          key: key(step),
          limits: LIMITS,
        }),
      ),
    );
    const outcomes = await Promise.all(both.map(({ network }) => bench.run(ASK('db', 5432), null, { network })));
    expect(outcomes.map(({ output }) => output)).toEqual(['I am b\n', 'I am c\n']);
    await Promise.all(both.map((services) => services.close()));
  });

  test('one that ends at once is named, with the end of its output, and nothing is left', async () => {
    const starting = startServices({
      sandbox: bench.sandbox,
      services: { db: service('db', 5432), queue: { image: broken, env: {}, ready: 'true' } },
      key: key('d'),
      limits: LIMITS,
    });
    await expect(starting).rejects.toThrow(ServiceFailed);
    await expect(starting).rejects.toThrow(/service queue ended with exit code 3.*cannot find my data/s);
    expect(await bench.containers()).toEqual([]);
  });

  test('without services the step has no network and no container is made', async () => {
    const services = await startServices({ sandbox: bench.sandbox, services: {}, key: key('e'), limits: LIMITS });
    expect(services.network).toBe('none');
    await services.close();
  });
});
