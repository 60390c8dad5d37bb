/** The room's public face. Other rooms import from here. */
export { createSandbox } from './sandbox.ts';
export { connectDocker, resolveImage } from './docker.ts';
export { openWorkspace } from './workspace.ts';
export type { Workspace, WorkspaceOptions } from './workspace.ts';
export { ensureSetup } from './setup.ts';
export type { SetUp, SetupRequest } from './setup.ts';
export { setupEnvironment } from './setup-env.ts';
export { startServices } from './services.ts';
export type { Services, ServicesRequest } from './services.ts';
export { collectTree } from './collect.ts';
export type { Collected, CollectOptions } from './collect.ts';
export { WALK_LIMITS } from './walk.ts';
export { SANDBOX_UID, sandboxUser } from './user.ts';
export { ownedDirectory, removeTree } from './owned-directory.ts';
export * from './faults.ts';
export type {
  Admission,
  Log,
  Mount,
  Network,
  Sandbox,
  SandboxOptions,
  StepKey,
  StepOptions,
  StepOutcome,
  StepProgress,
  StepRequest,
} from './types.ts';
