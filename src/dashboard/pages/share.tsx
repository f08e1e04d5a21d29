import { Empty } from "../parts/notice.js";

export function SharePage() {
  return (
    <main class="alone">
      <Empty title="This link does not work." />
    </main>
  );
}
