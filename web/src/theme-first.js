try {
	const theme = localStorage.getItem("vigil-theme");
	if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch { /* Storage is denied: the system's theme holds. */ }
