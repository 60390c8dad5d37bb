/** Lists that a spec may leave out: the usual manifests of every ecosystem, and the usual configuration of gates. */

const words = (lines: string): string[] => lines.trim().split(/\s+/);

/** Change only in dependency-update tasks, at any depth. By line: JavaScript; Python; Rust to Dart; Ruby to Swift; JVM; .NET; C++ and Nix. */
export const USUAL_MANIFESTS: readonly string[] = words(`
  package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb deno.lock bower.json
  pyproject.toml poetry.lock uv.lock pdm.lock Pipfile Pipfile.lock setup.py setup.cfg requirements*.txt environment.yml conda-lock.yml
  Cargo.toml Cargo.lock go.mod go.sum go.work go.work.sum mix.exs mix.lock pubspec.yaml pubspec.lock
  Gemfile Gemfile.lock *.gemspec composer.json composer.lock Podfile Podfile.lock Package.swift Package.resolved
  pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.lockfile libs.versions.toml build.sbt
  *.csproj *.fsproj *.vbproj packages.lock.json packages.config Directory.Packages.props stack.yaml stack.yaml.lock *.cabal
  conanfile.txt conanfile.py vcpkg.json MODULE.bazel MODULE.bazel.lock flake.nix flake.lock
`).map((name) => `**/${name}`);

/** Change in no task: what decides whether a gate is green. By line: CI; git and hooks; JavaScript; TypeScript and Python; the rest. */
export const USUAL_PROTECTED: readonly string[] = words(`
  .github/workflows/** .github/actions/** .gitlab-ci.yml .circleci/** .buildkite/** .travis.yml azure-pipelines.yml bitbucket-pipelines.yml Jenkinsfile .drone.yml .woodpecker/**
  .pre-commit-config.yaml .husky/** .gitattributes .gitmodules
  {eslint,prettier,vitest,jest,playwright,cypress,karma,stylelint}.config.* vitest.workspace.* .eslintrc* .eslintignore .prettierrc* .prettierignore .stylelintrc* .oxlintrc.json biome.json{,c} .mocharc* .nycrc* .c8rc*
  tsconfig*.json jsconfig.json pytest.ini tox.ini noxfile.py mypy.ini .mypy.ini ruff.toml .ruff.toml .flake8 .pylintrc pyrightconfig.json .coveragerc conftest.py
  rustfmt.toml clippy.toml .golangci.y{,a}ml .rubocop.yml .rspec phpunit.xml{,.dist} phpstan.neon{,.dist} .editorconfig codecov.yml .codecov.yml
`);

/** Top-level directories of a container that `sandbox.setup.provides` cannot cover. */
export const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set(
  words(
    'bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var workspace swarmline',
  ),
);
