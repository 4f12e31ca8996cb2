-- Asks the language server what a file of questions has, as Neovim's own client, and writes the answers as JSON.
local given = vim.fn.json_decode(table.concat(vim.fn.readfile(vim.env.QUESTIONS), '\n'))
local id = vim.lsp.start_client({
  name = 'edgeproof',
  cmd = given.command,
  cmd_cwd = given.folder,
  root_dir = given.folder,
  init_options = given.settings,
})
assert(vim.wait(60000, function()
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and client.initialized == true
end, 20), 'the server does not start')
local buffers = {}
local answers = {}
for index, question in ipairs(given.questions) do
  local buffer = buffers[question.file]
  if buffer == nil then
    vim.cmd('edit ' .. vim.fn.fnameescape(given.folder .. '/' .. question.file))
    buffer = vim.api.nvim_get_current_buf()
    assert(vim.lsp.buf_attach_client(buffer, id))
    buffers[question.file] = buffer
  end
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = question.position,
    context = { includeDeclaration = true, triggerKind = 1 },
  }
  local all, problem = vim.lsp.buf_request_sync(buffer, 'textDocument/' .. question.method, params, 60000)
  assert(all ~= nil, problem)
  local own = all[id] or {}
  assert(own.error == nil, vim.inspect(own.error))
  answers[index] = { result = own.result == nil and vim.NIL or own.result }
end
vim.fn.writefile({ vim.fn.json_encode(answers) }, vim.env.ANSWERS)
