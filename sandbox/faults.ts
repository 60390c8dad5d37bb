/**
 * The sandbox's errors, by whose fault it is: the class says what happens next.
 *
 * InfrastructureFault: nobody's attempt failed; try again (Temporal does). The others are final until a person changes something.
 */

/** The engine, the disk or the host let us down: says nothing about the command that ran. Retry it. */
export class InfrastructureFault extends Error {
  override readonly name = 'InfrastructureFault';
}

/** A person has to change the spec or the machine; retrying gives the same answer. */
export class SandboxSetupError extends Error {
  override readonly name: string = 'SandboxSetupError';
}

/** The image is neither here nor can it be pulled. */
export class ImageMissing extends SandboxSetupError {
  override readonly name = 'ImageMissing';
  readonly image: string;
  constructor(image: string, why: string) {
    super(
      `The image ${image} is not on this host and could not be pulled (${why}). Build or load it, then try again: docker pull ${image}`,
    );
    this.image = image;
  }
}

/** The engine runs in a mode that the sandbox cannot isolate or serve correctly. */
export class EngineUnsupported extends SandboxSetupError {
  override readonly name = 'EngineUnsupported';
}

/** The checkout does not fit into `sandbox.limits.disk`. */
export class WorkspaceTooSmall extends SandboxSetupError {
  override readonly name = 'WorkspaceTooSmall';
}

/** `sandbox.setup.run` did not do what it should; its output is in `outputFile`. */
export class SetupFailed extends SandboxSetupError {
  override readonly name = 'SetupFailed';
  readonly outputFile: string;
  constructor(message: string, outputFile: string) {
    super(message);
    this.outputFile = outputFile;
  }
}

/** A service of `sandbox.services` stopped or did not become ready. */
export class ServiceFailed extends SandboxSetupError {
  override readonly name = 'ServiceFailed';
  readonly service: string;
  constructor(service: string, message: string) {
    super(message);
    this.service = service;
  }
}

/** We asked the engine for something it calls invalid: our bug. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
}
