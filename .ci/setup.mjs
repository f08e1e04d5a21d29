// Makes a fresh clone ready, with nothing but Node and npm: dependencies, then the build, each only when needed.
// `--tests`, `--ui` and `--bench` also bring the Debian packages that some tests and benchmarks drive.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(root, ...parts);

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Retinue needs Node 20.19 or newer (22.14 or newer recommended); this is ${process.version}.`,
  );
  process.exit(1);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** The stamp holds what was last installed or built from; the same content needs no second time. */
function once(stamp, content, work) {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === content) return;
  work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, content);
}

function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

once(at("node_modules", ".retinue-lock"), readFileSync(at("package-lock.json"), "utf8"), () => {
  console.log("Installing dependencies (a few minutes where SQLite has to be compiled) …");
  run("npm", ["ci", "--no-audit", "--no-fund"]);
});

const inputs = ["gen", "src", "test", "bench", "examples", "tsconfig.json", "package.json"].filter((name) =>
  existsSync(at(name)),
);
once(at("dist", ".built-from"), String(Math.max(...inputs.map((name) => newest(at(name))))), () => {
  console.log("Building …");
  run("npm", ["run", "--silent", "build"]);
});

const wanted = {
  "--tests": {
    grpc_python_plugin: ["python3-grpcio", "protobuf-compiler", "protobuf-compiler-grpc"],
    openssl: ["openssl"],
    bwrap: ["bubblewrap"],
    git: ["git"],
    faketime: ["faketime"],
  },
  "--ui": { chromium: ["chromium", "fonts-inter", "fonts-dejavu-core"] },
  "--bench": { h2load: ["nghttp2-client"], cc: ["gcc", "libc6-dev"], etcd: ["etcd-server"] },
};
const missing = Object.entries(wanted[process.argv[2]] ?? {}).flatMap(([command, packages]) =>
  spawnSync("which", [command]).status === 0 ? [] : packages,
);
if (missing.length > 0) {
  const mayInstall = process.getuid?.() === 0 && spawnSync("which", ["apt-get"]).status === 0;
  if (mayInstall) {
    console.log(`Installing ${missing.join(", ")} …`);
    // RUNLEVEL: what is installed must not start services of its own.
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    execFileSync("apt-get", ["update", "-qq"], { stdio: ["ignore", "ignore", "inherit"], env });
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing], {
      stdio: ["ignore", "ignore", "inherit"],
      env,
    });
  } else {
    console.log(
      `What needs them is skipped, and says so: ${missing.join(", ")} (Debian packages) are not installed.`,
    );
  }
}
