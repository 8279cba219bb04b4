// Staging the files of messages: message types come out as they went in, and the hook knows what it is given.
import {
  type FileRef,
  type FileWriter,
  type HarnessSession,
  type InputFile,
  type MessageLike,
  type StagedFile,
  type StagedMessages,
  type StageMessageInput,
  type StageMessageResult,
  type StageMessagesOptions,
} from "@little-stack/files";
import { same } from "./expect.js";

interface Body {
  userId: string;
}

interface Chat {
  id: string;
  role: "system" | "user" | "assistant";
  metadata?: { sentAt: Date };
  parts: Array<{ type: "text"; text: string } | { type: "file"; mediaType: string; url: string }>;
}

type Model =
  | { role: "user"; content: string | Array<{ type: "text"; text: string }> }
  | { role: "system"; content: string };

export async function staging(session: HarnessSession<Body>, chat: Chat[], model: readonly Model[]): Promise<void> {
  const plain = await session.stageMessages(chat);
  same<typeof plain, StagedMessages<Chat>>();
  same<typeof plain.messages, Chat[]>();
  same<typeof plain.staged, StagedFile[]>();
  same<typeof plain.notices, string[]>();
  const ref: FileRef | undefined = plain.staged[0];
  void [ref?.sha256, plain.staged[0]?.originalName, plain.staged[0]?.messageId];
  same<Awaited<ReturnType<typeof session.stageMessages<Model>>>["messages"], Model[]>();
  await session.stageMessages(model, { restage: true, signal: AbortSignal.timeout(1000) });
  await session.stageMessages([{ role: "user", content: [{ type: "file", data: new Uint8Array() }] }]);
  // A response's body and its headers go through as they are.
  await session.stageMessages(chat, {
    fetchFile: async (url, part) => {
      same<typeof url, URL>();
      same<typeof part, unknown>();
      const response = await fetch(url);
      const mediaType = response.headers.get("content-type") ?? "application/octet-stream";
      return { content: response.body ?? "", mediaType, name: "a.csv" };
    },
  });
  await session.stageMessages(chat, {
    extraBody: { userId: "u" },
    stageMessage: async (input) => {
      same<typeof input, StageMessageInput<Body, Chat>>();
      same<typeof input.message, Chat>();
      same<typeof input.inputFiles, InputFile[]>();
      same<typeof input.files, FileWriter>();
      same<typeof input.session, HarnessSession<Body>>();
      const { extraBody, abortSignal } = input;
      void [extraBody?.userId, abortSignal?.aborted];
      const stagedFiles = await Promise.all(
        input.inputFiles.map(async ({ name, safeName, mediaType, content }) => ({
          ...(await input.files.write(`/session/${safeName}`, content, mediaType === undefined ? {} : { mediaType })),
          originalName: name,
        })),
      );
      return {
        stagedFiles,
        notice: "",
        metadata: { any: 1 },
        keep: (file) => file.mediaType?.startsWith("image/") ?? false,
      };
    },
  });
  await session.stageMessages(chat, { stageMessage: async () => {} });

  // @ts-expect-error a message has a role
  await session.stageMessages([{ id: "1" }]);
  // @ts-expect-error of the host's type
  await session.stageMessages(chat, { extraBody: { user: 7 } });
  // @ts-expect-error a hook gives a result or nothing
  await session.stageMessages(chat, { stageMessage: async () => "done" });
  // @ts-expect-error the content is needed
  await session.stageMessages(chat, { fetchFile: async () => ({ mediaType: "text/csv" }) });
}

/** What a function of the user's may say it takes and gives. */
export async function hook({ inputFiles, files }: StageMessageInput): Promise<StageMessageResult> {
  const [file] = inputFiles;
  return file === undefined ? {} : { stagedFiles: [await files.write(`/session/${file.safeName}`, file.content)] };
}

export function options(message: MessageLike): StageMessagesOptions<Body> {
  void message;
  return { stageMessage: hook };
}
