/** Building one Go program from the module proxy, for machines that cannot download a ready binary. */
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run, which } from './exec.ts';

/** A Go version from `go version`, as numbers; null when it is none. */
export function parseGoVersion(text: string): readonly [number, number, number] | null {
  const match = /\bgo(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return match === null ? null : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

/** How a Go of one version can build what needs another. */
export type Toolchain = 'as-is' | 'switch' | 'bootstrap';

/** From 1.21 on Go fetches the toolchain it is told to; an older one can at least fetch it as a module. */
export function chooseToolchain(
  have: readonly [number, number, number],
  need: readonly [number, number, number],
): Toolchain {
  for (let index = 0; index < 3; index++) {
    if (have[index]! > need[index]!) return 'as-is';
    if (have[index]! < need[index]!) return have[0] > 1 || have[1] >= 21 ? 'switch' : 'bootstrap';
  }
  return 'as-is';
}

export interface GoProgram {
  /** Package path with version, e.g. `example.org/tool@v1.2.3`. */
  readonly module: string;
  /** The Go that its go.mod asks for. */
  readonly go: readonly [number, number, number];
  /** The name of the binary. */
  readonly name: string;
}

const GOARCH: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Makes the tools of an unpacked toolchain module executable, which the module's zip does not say. */
async function makeExecutable(goroot: string): Promise<void> {
  const tools = join(goroot, 'pkg/tool');
  const folders = [join(goroot, 'bin'), ...(await readdir(tools)).map((name) => join(tools, name))];
  for (const folder of folders) {
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if ((await stat(path)).isFile()) await chmod(path, 0o755);
    }
  }
}

/**
 * Builds a program and puts it at `target`, atomically. Modules and build cache (some 3 GB for Temporal) live in a folder
 * beside it while it runs. Throws CommandFailed; `go` must be on PATH.
 */
export async function goInstall(program: GoProgram, target: string, onLine: (line: string) => void): Promise<void> {
  const go = (await which('go')) ?? 'go';
  await mkdir(dirname(target), { recursive: true });
  const work = await mkdtemp(join(dirname(target), '.go-build-'));
  const wanted = program.go.join('.');
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    GOPATH: join(work, 'path'),
    GOCACHE: join(work, 'cache'),
    GOTMPDIR: work,
    GOBIN: join(work, 'bin'),
    GOFLAGS: '-modcacherw',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  };
  try {
    const version = parseGoVersion(await run([go, 'version'], { env }));
    const toolchain = version === null ? 'as-is' : chooseToolchain(version, program.go);
    let compiler = go;
    if (toolchain === 'switch') env['GOTOOLCHAIN'] = `go${wanted}`;
    if (toolchain === 'bootstrap') {
      const platform = `${process.platform}-${GOARCH[process.arch] ?? process.arch}`;
      const module = `golang.org/toolchain@v0.0.1-go${wanted}.${platform}`;
      const answer = JSON.parse(await run([go, 'mod', 'download', '-json', module], { env, cwd: work, onLine })) as {
        Dir: string;
      };
      await makeExecutable(answer.Dir);
      compiler = join(answer.Dir, 'bin/go');
      delete env['GOROOT'];
    }
    await run([compiler, 'install', '-v', program.module], { env, cwd: work, onLine });
    await cp(join(work, 'bin', program.name), `${target}.new`);
    await chmod(`${target}.new`, 0o755);
    await rename(`${target}.new`, target);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 3 });
  }
}
