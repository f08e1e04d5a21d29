/** What the agents of the demo do. They are scripts, and say so: no model is asked, and nothing is spent. */
export const SHOP = {
  tasks: [
    { id: "plan", subject: "Make a plan" },
    { id: "bread", subject: "Have bread baked" },
    { id: "sign", subject: "Have a sign painted" },
    { id: "open", subject: "Open the door", blockedBy: ["bread", "sign"] },
  ],

  description: lines(
    "Open a bakery, with two helpers.",
    "@say Good morning. I shall open a bakery, with two helpers.",
    "@task plan in_progress",
    "@sleep 1s",
    "@usage 1200 300 0 0.012",
    "@task plan completed",
    "@task bread in_progress",
    child(
      "baker",
      "@addtask knead Knead the dough",
      "@addtask bake Bake three loaves",
      "@task knead in_progress",
      "@say Kneading.",
      "@sleep 1500ms",
      "@task knead completed",
      "@task bake in_progress",
      "@run seq -f 'loaf %.0f' 3",
      "@sleep 1500ms",
      "@usage 800 200 100 0.006",
      "@task bake completed",
      "@complete Three loaves, still warm.",
    ),
    child(
      "painter",
      "@say Looking for a brush.",
      "@sleep 2s",
      "@run echo OPEN",
      "@sleep 2s",
      "@usage 400 90 0 0.003",
      "@complete The sign wants only its colour.",
    ),
    "@await baker",
    "@task bread completed",
    "@await painter",
    "@task sign in_progress",
    "@ask Which colour shall the sign be?",
  ),

  answer: lines(
    "Blue.",
    "@say Blue it is.",
    "@sleep 1s",
    "@task sign completed",
    "@say Paint has to dry. I sleep until it has.",
  ),

  /** Wakes it. */
  later: lines(
    "The paint is dry.",
    "@say I am awake again.",
    "@task open in_progress",
    "@sleep 1s",
    "@task open completed",
    "@complete The bakery is open, and its sign is blue.",
  ),
} as const;

function child(name: string, ...directives: string[]): string {
  return `@spawn ${name} | ${directives.join(" | ")}`;
}

function lines(...parts: string[]): string {
  return parts.join("\n");
}
