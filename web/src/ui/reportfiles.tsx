// A report as a file, to keep or to send.
import { apiUrl, incidentPath } from "../api";

export function ReportFiles({ id }: { id: string }) {
	return (
		<>
			<a class="button" href={apiUrl(incidentPath(id), { format: "text", download: 1 })} download>
				Report as text
			</a>
			<a class="button" href={apiUrl(incidentPath(id), { download: 1 })} download>
				Report as JSON
			</a>
		</>
	);
}
