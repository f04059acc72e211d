/** How a language's client is generated, compiled and run. The commands are the shell's, in a copy of the folder. */
export interface Toolchain {
  language: string;
  folder: string;
  /** Commands that print the version of a tool it needs; the first is the language's own. */
  tools: string[];
  /** The generator, and the file that pins its version. */
  generator: { name: string; file: string; version: RegExp };
  /** Generates the client from the document at `$DOCUMENT`, and compiles it with the program. */
  build: string;
  run: string;
}

export const toolchains: Toolchain[] = [
  {
    language: "Go",
    folder: "go",
    tools: ["go version"],
    generator: { name: "oapi-codegen", file: "main.go", version: /oapi-codegen@v(\S+)/ },
    build: "go generate ./... && go mod tidy && go vet ./... && go build -o program .",
    run: "./program",
  },
  {
    language: "Java",
    folder: "java",
    tools: ["java --version", "mvn --version"],
    generator: {
      name: "openapi-generator",
      file: "pom.xml",
      version: /openapi-generator-maven-plugin<\/artifactId>\s*<version>(.*?)</,
    },
    build: "mvn --quiet --batch-mode compile dependency:build-classpath",
    run: 'java -classpath "target/classes:$(cat target/classpath)" Main',
  },
  {
    language: "Python",
    folder: "python",
    tools: ["python3 --version"],
    generator: { name: "openapi-python-client", file: "requirements.txt", version: /openapi-python-client==(\S+)/ },
    build:
      "python3 -m venv venv && venv/bin/pip install --quiet --requirement requirements.txt && " +
      'PATH="$PWD/venv/bin:$PATH" openapi-python-client generate --path "$DOCUMENT" --meta none --output-path store',
    run: "venv/bin/python main.py",
  },
];
