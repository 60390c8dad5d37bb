/** What the sandbox image is made from, and a digest of it: the image is made again only when that changes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { projectRoot } from './root.ts';

const Package = z.object({ package: z.string(), integrity: z.string() });
const Versions = z.object({
  suite: z.string(),
  /** The ordinary image that is used where it can be pulled. */
  base: z.string(),
  packages: z.array(z.string()),
  node: z.object({ version: z.string(), x64: Package, arm64: Package }),
  npm: Package.extend({ version: z.string() }),
});
export type Versions = z.infer<typeof Versions>;
const Pinned = Package.extend({ version: z.string() });
const Agents = z.object({
  'claude-code': z.object({ version: z.string(), x64: Package, arm64: Package }),
  codex: z.object({ x64: Pinned, arm64: Pinned }),
});

export const BASE_IMAGE = 'swarmline/base:bookworm';
export const SANDBOX_IMAGE = 'swarmline/node:22';
export const AGENTS_IMAGE = 'swarmline/agents:1';
export const AIDER_IMAGE = 'swarmline/aider:1';
/** Labels that hold the digests. */
export const BASE_LABEL = 'swarmline.base-inputs';
export const SANDBOX_LABEL = 'swarmline.inputs';

export interface ImageInputs {
  readonly versions: Versions;
  readonly baseDigest: string;
  readonly sandboxDigest: string;
  /** The folder with the Dockerfiles. */
  readonly folder: string;
}

export interface AgentsInputs {
  readonly claude: z.infer<typeof Pinned>;
  readonly codex: z.infer<typeof Pinned>;
  readonly digest: string;
}

/** What the image of agent programs is made from, on top of the sandbox image. */
export async function agentsInputs({ folder, sandboxDigest }: ImageInputs): Promise<AgentsInputs> {
  const [text, dockerfile] = await Promise.all(
    ['agents.json', 'agents.Dockerfile'].map((name) => readFile(join(folder, name), 'utf8')),
  );
  const agents = Agents.parse(JSON.parse(text!));
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
  const claude = { ...agents['claude-code'][arch], version: agents['claude-code'].version };
  return { claude, codex: agents.codex[arch], digest: digestOf([sandboxDigest, text!, dockerfile!]) };
}

/** A digest of what the image with Aider is made from, on top of the sandbox image. */
export async function aiderDigest({ folder, sandboxDigest }: ImageInputs): Promise<string> {
  const names = ['aider.requirements.txt', 'aider.Dockerfile'];
  return digestOf([sandboxDigest, ...(await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8'))))]);
}

/** A short digest of texts, each with its length so that they cannot run into each other. Pure. */
export function digestOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}\n${text}\n`);
  return hash.digest('hex').slice(0, 32);
}

export async function imageInputs(folder: string = join(projectRoot(), 'docker')): Promise<ImageInputs> {
  const [versionsText, base, sandbox] = await Promise.all(
    ['versions.json', 'base.Dockerfile', 'sandbox.Dockerfile'].map((name) => readFile(join(folder, name), 'utf8')),
  );
  const versions = Versions.parse(JSON.parse(versionsText!));
  const baseDigest = digestOf([process.arch, versions.suite, versions.base, versions.packages.join(' '), base!]);
  return { versions, baseDigest, sandboxDigest: digestOf([baseDigest, versionsText!, sandbox!]), folder };
}
